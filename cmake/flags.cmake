# SPDX-License-Identifier: Apache-2.0
#
# hbg_flags: what every file of this tree is compiled with. It is private to the tree and not installed.

find_package(Threads REQUIRED)

add_library(hbg_flags INTERFACE)
target_compile_definitions(hbg_flags INTERFACE _GNU_SOURCE=1 $<$<BOOL:${HBG_DEBUG}>:HBG_DEBUG=1>)
target_compile_options(hbg_flags INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${HBG_WERROR}>:-Werror>
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
target_link_libraries(hbg_flags INTERFACE Threads::Threads)

if(HBG_SANITIZE STREQUAL "address")
    set(HBG_SANITIZE_FLAGS -fsanitize=address,undefined)
elseif(HBG_SANITIZE STREQUAL "thread" OR HBG_SANITIZE STREQUAL "undefined")
    set(HBG_SANITIZE_FLAGS -fsanitize=${HBG_SANITIZE})
elseif(HBG_SANITIZE)
    message(FATAL_ERROR "HBG_SANITIZE is \"${HBG_SANITIZE}\"; it can be empty, address, thread or undefined")
endif()
if(HBG_SANITIZE)
    target_compile_options(hbg_flags INTERFACE ${HBG_SANITIZE_FLAGS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(hbg_flags INTERFACE ${HBG_SANITIZE_FLAGS})
endif()
