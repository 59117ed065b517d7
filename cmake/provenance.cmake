# SPDX-License-Identifier: Apache-2.0
#
# The build stamp: <build>/generated/hbg_build.h, rewritten at each build when the commit or the state of the tree changed. It holds
# neither a time nor a path, so that equal trees make equal files.
#
#   HBG_BUILD_VERSION   "0.1.0"
#   HBG_BUILD_TEXT      "0.1.0 (1a2b3c4d, dirty)", as far as it is known
#   HBG_BUILD_COMMIT    40 or 64 hexadecimal digits; empty when the tree is not a git checkout with a commit
#   HBG_BUILD_DIRTY     1 when a tracked file differs from the commit, else 0
#
# Beside the command, and not installed, stands hbg.source: the source tree, the build tree and the library, a line each. By it the
# command knows that it runs from a build tree, and whose HEAD it is compared with (tools/provenance.c).
#
# Included while configuring it makes the target; run with `cmake -P` it writes the header.

if(CMAKE_SCRIPT_MODE_FILE)
    set(commit "")
    set(dirty 0)
    foreach(name DIR WORK_TREE INDEX_FILE COMMON_DIR)       # a hook of another repository may run this build
        unset(ENV{GIT_${name}})
    endforeach()
    if(GIT)
        execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-toplevel
            OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        file(REAL_PATH "${SOURCE}" source_real)
        if(top STREQUAL source_real)
            execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --verify --quiet HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        endif()
        if(commit)
            execute_process(COMMAND ${GIT} -C ${SOURCE} --no-optional-locks status --porcelain --untracked-files=no
                OUTPUT_VARIABLE changes ERROR_QUIET)
            if(changes)
                set(dirty 1)
            endif()
        endif()
    endif()
    set(words "${VERSION}")
    if(commit)
        string(SUBSTRING "${commit}" 0 8 short)
        if(dirty)
            string(APPEND words " (${short}, dirty)")
        else()
            string(APPEND words " (${short})")
        endif()
    endif()
    set(text "/* SPDX-License-Identifier: Apache-2.0 */
/* The build stamp; cmake/provenance.cmake writes it. */
#define HBG_BUILD_VERSION \"${VERSION}\"
#define HBG_BUILD_TEXT \"${words}\"
#define HBG_BUILD_COMMIT \"${commit}\"
#define HBG_BUILD_DIRTY ${dirty}
")
    set(before "")
    if(EXISTS "${HEADER}")
        file(READ "${HEADER}" before)
    endif()
    if(NOT before STREQUAL text)
        file(WRITE "${HEADER}" "${text}")
    endif()
    return()
endif()

find_program(HBG_GIT git)
if(NOT HBG_GIT)
    set(HBG_GIT "")
endif()
set(HBG_GENERATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(HBG_STAMP ${CMAKE_COMMAND} -DGIT=${HBG_GIT} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
    -DHEADER=${HBG_GENERATED_DIR}/hbg_build.h -P ${CMAKE_CURRENT_LIST_FILE})
execute_process(COMMAND ${HBG_STAMP})
add_custom_target(hbg_stamp COMMAND ${HBG_STAMP} BYPRODUCTS ${HBG_GENERATED_DIR}/hbg_build.h
    COMMENT "build stamp" VERBATIM)
