# SPDX-License-Identifier: Apache-2.0
#
# Every example is compiled twice over the public headers, as C11 and, through a one-line file that includes it, as C++17. Both are
# tests: examples/NAME and examples/NAME/cxx must exit with 0.
#
#   examples/NAME.c              a program of its own
#   examples/programs/pNN_*.c    with pNN_main.c, where there is one, a program; p08's output is compared with a pattern

# hbg_example NAME FOLDER SOURCE.. : the two targets and their tests.
function(hbg_example name folder)
    set(cxx "")
    foreach(source ${ARGN})
        get_filename_component(stem ${source} NAME_WE)
        set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/examples/cxx/${stem}.cpp)
        file(GENERATE OUTPUT ${wrapper} CONTENT "#include \"${source}\"\n")
        list(APPEND cxx ${wrapper})
    endforeach()
    add_executable(example_${name} ${ARGN})
    add_executable(example_${name}_cxx ${cxx})
    foreach(target example_${name} example_${name}_cxx)
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder})
        target_link_libraries(${target} PRIVATE hbg_flags hbg_shared m)
    endforeach()
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
    set_target_properties(example_${name}_cxx PROPERTIES OUTPUT_NAME ${name}_cxx)
    if(HBG_BUILD_TESTS)
        add_test(NAME ${folder}/${name} COMMAND example_${name})
        add_test(NAME ${folder}/${name}/cxx COMMAND example_${name}_cxx)
        set_tests_properties(${folder}/${name} ${folder}/${name}/cxx PROPERTIES LABELS examples TIMEOUT 120)
    endif()
endfunction()

file(GLOB HBG_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
foreach(source ${HBG_EXAMPLES})
    get_filename_component(name ${source} NAME_WE)
    hbg_example(${name} examples ${source})
endforeach()

set(HBG_PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/examples/programs)
hbg_example(p01_axpy examples/programs ${HBG_PROGRAMS}/p01_axpy.c)
hbg_example(p02_cholesky examples/programs ${HBG_PROGRAMS}/p02_cholesky.c ${HBG_PROGRAMS}/p02_main.c)
hbg_example(p03_decoder examples/programs ${HBG_PROGRAMS}/p03_decoder.c ${HBG_PROGRAMS}/p03_main.c)
hbg_example(p04_paged examples/programs ${HBG_PROGRAMS}/p04_paged.c ${HBG_PROGRAMS}/p04_main.c)
hbg_example(p08_errors examples/programs ${HBG_PROGRAMS}/p08_errors.c)
target_sources(example_p02_cholesky PRIVATE ${HBG_PROGRAMS}/plain_blas.c)
target_sources(example_p02_cholesky_cxx PRIVATE ${HBG_PROGRAMS}/plain_blas.c)
if(HBG_BUILD_TESTS)
    string(CONCAT expected "open: HBG_E_OPTION: .*\"worker\".*\"workers\".*"
        "run: HBG_E_KERNEL: .*task 41, argument -1, step, code 42, detail 41.*"
        "limit: HBG_E_LIMIT: .*task 64.*limit_tasks: used 64, limit 64, requested 1.*"
        "too few arguments: HBG_E_ACCESS: .*argument 1.*the device still works")
    set_tests_properties(examples/programs/p08_errors examples/programs/p08_errors/cxx PROPERTIES PASS_REGULAR_EXPRESSION ${expected})
endif()
