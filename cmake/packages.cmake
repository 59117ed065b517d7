# SPDX-License-Identifier: Apache-2.0
#
# Optional packages. Every one may be missing: the library itself needs libc and pthreads only.
#
#   hwloc                 HBG_HAVE_HWLOC in the shared library: placement of workers
#   OpenBLAS + LAPACKE    HBG_HAVE_OPENBLAS in the workloads: tile kernels

option(HBG_USE_HWLOC "place workers with hwloc where it is found" ON)
option(HBG_USE_OPENBLAS "tile kernels through CBLAS and LAPACKE where they are found" ON)

if(HBG_USE_HWLOC)
    find_path(HBG_HWLOC_INCLUDE hwloc.h)
    find_library(HBG_HWLOC_LIBRARY hwloc)
endif()
if(HBG_USE_HWLOC AND HBG_HWLOC_INCLUDE AND HBG_HWLOC_LIBRARY)
    set(HBG_HAVE_HWLOC ON)
else()
    set(HBG_HAVE_HWLOC OFF)
endif()

add_library(hbg_blas INTERFACE)
set(HBG_HAVE_OPENBLAS OFF)
if(HBG_USE_OPENBLAS)
    find_path(HBG_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas)
    find_path(HBG_LAPACKE_INCLUDE lapacke.h PATH_SUFFIXES openblas)
    find_library(HBG_OPENBLAS_LIBRARY openblas)
    find_library(HBG_LAPACKE_LIBRARY lapacke)
    if(HBG_CBLAS_INCLUDE AND HBG_LAPACKE_INCLUDE AND HBG_OPENBLAS_LIBRARY AND HBG_LAPACKE_LIBRARY)
        set(HBG_HAVE_OPENBLAS ON)
        target_compile_definitions(hbg_blas INTERFACE HBG_HAVE_OPENBLAS=1)
        target_include_directories(hbg_blas SYSTEM INTERFACE ${HBG_CBLAS_INCLUDE} ${HBG_LAPACKE_INCLUDE})
        target_link_libraries(hbg_blas INTERFACE ${HBG_LAPACKE_LIBRARY} ${HBG_OPENBLAS_LIBRARY})
    endif()
endif()

# What is missing is said here, in `hbg info`, and nowhere breaks anything.
function(hbg_say_without have use what instead packages)
    if(NOT ${have})
        if(${use})
            message(STATUS "hbg: without ${what}, which was not found (${packages}): ${instead}")
        else()
            message(STATUS "hbg: without ${what}, as ${use}=OFF asks: ${instead}")
        endif()
    endif()
endfunction()
hbg_say_without(HBG_HAVE_HWLOC HBG_USE_HWLOC hwloc "workers take the CPUs in the system's order" libhwloc-dev)
hbg_say_without(HBG_HAVE_OPENBLAS HBG_USE_OPENBLAS OpenBLAS "tile kernels are plain C" "libopenblas-dev, liblapacke-dev")
message(STATUS "hbg: hwloc ${HBG_HAVE_HWLOC}, OpenBLAS ${HBG_HAVE_OPENBLAS}, sanitizer \"${HBG_SANITIZE}\", debug checks ${HBG_DEBUG}")
