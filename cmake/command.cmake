# SPDX-License-Identifier: Apache-2.0
#
# The hbg command: tools/*.c, tools/ab/*.c, bench/*.c, bench/dag/*.c and the workloads, over the shared library and its public headers.
# The workloads are an archive of their own and so is all of tools but main.c, so that tests can link what they test and run a
# workload themselves. From inside the tree the command uses only the
# leaf helpers below and the header-only base/rng.h and base/clock.h; they need libc alone and are compiled in a second time.

file(GLOB HBG_TOOL_SOURCES CONFIGURE_DEPENDS tools/*.c tools/ab/*.c bench/*.c bench/dag/*.c)
list(FILTER HBG_TOOL_SOURCES EXCLUDE REGEX "/tools/main\\.c$")
set(HBG_TOOL_HELPERS src/base/json_write.c src/base/option.c)
file(GLOB_RECURSE HBG_WORKLOAD_SOURCES CONFIGURE_DEPENDS workloads/*.c)

if(HBG_WORKLOAD_SOURCES)
    add_library(hbg_workloads STATIC ${HBG_WORKLOAD_SOURCES})
    target_include_directories(hbg_workloads PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}
        PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_compile_definitions(hbg_workloads PRIVATE HBG_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(hbg_workloads PRIVATE hbg_flags PUBLIC hbg_blas m)
    if(HBG_OPTIMIZE STREQUAL "-O2")     # kernels in plain C: their loops are worth vectorising, and no order of a sum changes
        target_compile_options(hbg_workloads PRIVATE $<$<CONFIG:Release>:-O3>)
        set_source_files_properties(workloads/shapes/replay_shapes.c PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)   # `hbg bench replay` measures it
    endif()
endif()

include(cmake/embed.cmake)
hbg_embed(${HBG_GENERATED_DIR}/hbg_new.h hbg__new_c ${CMAKE_CURRENT_SOURCE_DIR}/tools/new/workload.c
    hbg__new_cpp ${CMAKE_CURRENT_SOURCE_DIR}/tools/new/workload.cpp hbg__new_cmake ${CMAKE_CURRENT_SOURCE_DIR}/tools/new/CMakeLists.txt.in
    hbg__new_readme ${CMAKE_CURRENT_SOURCE_DIR}/tools/new/README.md.in)
hbg_embed(${HBG_GENERATED_DIR}/hbg_page.h hbg__page_html ${CMAKE_CURRENT_SOURCE_DIR}/tools/trace_page.html)

if(HBG_TOOL_SOURCES)
    add_library(hbg_tools STATIC ${HBG_TOOL_SOURCES} ${HBG_TOOL_HELPERS})
    set_target_properties(hbg_tools PROPERTIES C_VISIBILITY_PRESET hidden)
    add_dependencies(hbg_tools hbg_stamp)
    target_include_directories(hbg_tools PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${HBG_GENERATED_DIR}
        PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_compile_definitions(hbg_tools PRIVATE HBG_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" $<$<BOOL:${HBG_HAVE_HWLOC}>:HBG_HAVE_HWLOC=1>)
    target_link_libraries(hbg_tools PRIVATE hbg_flags PUBLIC hbg_workloads ${CMAKE_DL_LIBS} m)
    target_link_libraries(hbg_workloads PUBLIC hbg_tools)       # hbg_setup_*, which workloads call

    add_executable(hbg_command tools/main.c)
    set_target_properties(hbg_command PROPERTIES OUTPUT_NAME hbg C_VISIBILITY_PRESET hidden
        ENABLE_EXPORTS ON)      # a loaded workload finds hbg_setup_* in the command
    target_link_libraries(hbg_command PRIVATE hbg_tools hbg_flags hbg_shared)
    file(GENERATE OUTPUT $<TARGET_FILE_DIR:hbg_command>/hbg.source
        CONTENT "${CMAKE_CURRENT_SOURCE_DIR}\n${CMAKE_BINARY_DIR}\n$<TARGET_FILE_DIR:hbg_shared>\n")
endif()
