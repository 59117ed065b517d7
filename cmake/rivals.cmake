# SPDX-License-Identifier: Apache-2.0
#
# bench-rivals: other runtimes for `hbg bench --rivals`, as build/rivals/*, for those that are found. Not part of `make`, but of `make bench`.
#
#   openmp   the compiler's OpenMP        libomp   the same program on LLVM's runtime
#   tbb      oneTBB's flow graph          starpu   StarPU 1.3 with data handles

add_custom_target(bench-rivals)
find_package(OpenMP COMPONENTS C QUIET)
find_library(HBG_LIBOMP_LIBRARY omp PATH_SUFFIXES llvm-14/lib llvm-15/lib llvm-16/lib)
find_package(TBB CONFIG QUIET)
find_path(HBG_STARPU_INCLUDE starpu.h PATH_SUFFIXES starpu/1.3)
find_library(HBG_STARPU_LIBRARY NAMES starpu-1.3)

function(hbg_rival name source)
    add_executable(rival_${name} EXCLUDE_FROM_ALL bench/rivals/${source} bench/rivals/rival.c)
    set_target_properties(rival_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/rivals)
    target_include_directories(rival_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(rival_${name} PRIVATE hbg_flags hbg_tools hbg_shared)
    add_dependencies(bench-rivals rival_${name})
endfunction()

if(OpenMP_C_FOUND)
    hbg_rival(openmp openmp.c)
    target_link_libraries(rival_openmp PRIVATE OpenMP::OpenMP_C)
endif()
if(OpenMP_C_FOUND AND HBG_LIBOMP_LIBRARY)       # libomp has the entry points that gcc calls
    hbg_rival(libomp openmp.c)
    target_compile_options(rival_libomp PRIVATE ${OpenMP_C_FLAGS})
    target_compile_definitions(rival_libomp PRIVATE RIVAL_RUNTIME="libomp")
    target_link_libraries(rival_libomp PRIVATE ${HBG_LIBOMP_LIBRARY})
endif()
if(TBB_FOUND)
    hbg_rival(tbb tbb.cpp)
    target_link_libraries(rival_tbb PRIVATE TBB::tbb)
endif()
if(HBG_STARPU_INCLUDE AND HBG_STARPU_LIBRARY)
    hbg_rival(starpu starpu.c)
    target_include_directories(rival_starpu SYSTEM PRIVATE ${HBG_STARPU_INCLUDE})
    target_link_libraries(rival_starpu PRIVATE ${HBG_STARPU_LIBRARY})
endif()

# ---- sizes, fan-in, workers: cmake --build build --target flat_bench ----

add_executable(flat_bench EXCLUDE_FROM_ALL bench/flat/flat_bench.c)
target_include_directories(flat_bench PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(flat_bench PRIVATE hbg_flags hbg_tools hbg_static)

# ---- first runs, for scripts/experiment.py cold: cmake --build build --target cold_bench ----

add_executable(cold_bench EXCLUDE_FROM_ALL bench/cold/cold_bench.c)
target_link_libraries(cold_bench PRIVATE hbg_flags hbg_tools hbg_static)
