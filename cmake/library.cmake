# SPDX-License-Identifier: Apache-2.0
#
# libhbg.so and libhbg.a, from the same position-independent objects. Only hbg_* leaves the shared library (src/hbg.map);
# the static one keeps the hbg__ symbols reachable, which is how the unit tests see inside.
#
# Where hwloc is used, the shared library has its own object of the one file that calls it. The static one needs libc and pthreads
# alone everywhere: a static hwloc wants libraries that come as shared ones only (libudev), so `cc -static` could not link it.

file(GLOB_RECURSE HBG_SOURCES CONFIGURE_DEPENDS src/*.c)
list(FILTER HBG_SOURCES EXCLUDE REGEX "_model\\.c$")

add_library(hbg_objects OBJECT ${HBG_SOURCES})
add_dependencies(hbg_objects hbg_stamp)
target_include_directories(hbg_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src ${HBG_GENERATED_DIR})
target_link_libraries(hbg_objects PRIVATE hbg_flags)
# Words that a submit has just stored must be read one by one: a wider load waits for the store buffer (a fifth of a submit).
target_compile_options(hbg_objects PRIVATE -fno-tree-slp-vectorize)
set_target_properties(hbg_objects PROPERTIES C_VISIBILITY_PRESET hidden)
set(HBG_SHARED_OBJECTS $<TARGET_OBJECTS:hbg_objects>)
if(HBG_HAVE_HWLOC)
    add_library(hbg_placement OBJECT src/platform/cpu/workers.c)
    target_compile_definitions(hbg_placement PRIVATE HBG_HAVE_HWLOC=1)
    target_include_directories(hbg_placement PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_include_directories(hbg_placement SYSTEM PRIVATE ${HBG_HWLOC_INCLUDE})
    target_link_libraries(hbg_placement PRIVATE hbg_flags)
    set_target_properties(hbg_placement PROPERTIES C_VISIBILITY_PRESET hidden)
    set(HBG_SHARED_OBJECTS $<FILTER:$<TARGET_OBJECTS:hbg_objects>,EXCLUDE,/platform/cpu/workers\\.c> $<TARGET_OBJECTS:hbg_placement>)
endif()

add_library(hbg_shared SHARED ${HBG_SHARED_OBJECTS})
add_library(hbg_static STATIC $<TARGET_OBJECTS:hbg_objects>)
set_target_properties(hbg_shared PROPERTIES OUTPUT_NAME hbg EXPORT_NAME shared LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/hbg.map)
set_target_properties(hbg_static PROPERTIES OUTPUT_NAME hbg EXPORT_NAME static LINKER_LANGUAGE C)
target_link_options(hbg_shared PRIVATE LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/src/hbg.map
    $<$<STREQUAL:${HBG_SANITIZE},>:LINKER:-z,defs>)

foreach(library hbg_shared hbg_static)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PRIVATE Threads::Threads $<BUILD_INTERFACE:hbg_flags>)
endforeach()
if(HBG_HAVE_HWLOC)
    target_link_libraries(hbg_shared PRIVATE ${HBG_HWLOC_LIBRARY})
endif()
add_library(hbg::shared ALIAS hbg_shared)
add_library(hbg::static ALIAS hbg_static)
