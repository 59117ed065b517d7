# SPDX-License-Identifier: Apache-2.0
#
# Each examples/NAME.c is a program of its own over the public headers, and a test that must exit with 0.

file(GLOB HBG_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
foreach(source ${HBG_EXAMPLES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/examples)
    target_link_libraries(example_${name} PRIVATE hbg_flags hbg_shared m)
    if(HBG_BUILD_TESTS)
        add_test(NAME examples/${name} COMMAND example_${name})
        set_tests_properties(examples/${name} PROPERTIES LABELS examples TIMEOUT 120)
    endif()
endforeach()
