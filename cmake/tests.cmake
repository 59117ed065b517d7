# SPDX-License-Identifier: Apache-2.0
#
# Tests. One cmocka binary per *_test.c, named in ctest by its path below tests/ and labelled with its folders:
# tests/unit/base/vec_test.c is the test unit/base/vec with the labels unit and base.
#
#   unit backend stress regress fault fuzz sim   *_test.c, linked with libhbg.a, tests/support/*.c and cmocka (all but the units
#              of src with the tools and the workloads too); src/ is on the include path; "wraps: mmap" in a file's head lets
#              it stand in for calls of the library to mmap()
#   model      *_model.cpp, Relacy models
#   cli docs abi   *_test.sh and *_test.py; HBG holds the path of the command, HBG_SOURCE and HBG_BUILD those of the trees
#   abi        every public header alone, C11 and C++17; device-side sources, and the base headers they include, as C++17

set(HBG_TEST_ENVIRONMENT OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 HBG=${CMAKE_CURRENT_BINARY_DIR}/hbg
    HBG_SOURCE=${CMAKE_CURRENT_SOURCE_DIR} HBG_BUILD=${CMAKE_CURRENT_BINARY_DIR} CC=${CMAKE_C_COMPILER} CXX=${CMAKE_CXX_COMPILER}
    ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1)
set(HBG_TEST_TIMEOUT 300)
if(HBG_SANITIZE)
    set(HBG_TEST_TIMEOUT 900)
endif()

# hbg_test_register: ctest properties that all tests share; labels are the folders of its name.
function(hbg_test_register name)
    get_filename_component(labels ${name} DIRECTORY)
    string(REPLACE "/" ";" labels "${labels}")
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${HBG_TEST_TIMEOUT}
        ENVIRONMENT "${HBG_TEST_ENVIRONMENT}")
endfunction()

# ---- cmocka ----

find_path(HBG_CMOCKA_INCLUDE cmocka.h)
find_library(HBG_CMOCKA_LIBRARY cmocka)
if(NOT HBG_CMOCKA_INCLUDE OR NOT HBG_CMOCKA_LIBRARY)
    message(FATAL_ERROR "cmocka is missing (scripts/setup.sh installs it); -DHBG_BUILD_TESTS=OFF builds without tests")
endif()

file(GLOB HBG_SUPPORT_SOURCES CONFIGURE_DEPENDS tests/support/*.c)
add_library(hbg_test_base INTERFACE)
target_compile_definitions(hbg_test_base INTERFACE HBG_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
    $<$<BOOL:${HBG_SANITIZE}>:HBG_SANITIZED=1>)
target_include_directories(hbg_test_base INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/tests
    ${CMAKE_CURRENT_SOURCE_DIR} ${HBG_GENERATED_DIR})
target_include_directories(hbg_test_base SYSTEM INTERFACE ${HBG_CMOCKA_INCLUDE})
target_link_libraries(hbg_test_base INTERFACE hbg_flags)
if(HBG_SUPPORT_SOURCES)
    add_library(hbg_test_support STATIC ${HBG_SUPPORT_SOURCES})
    target_include_directories(hbg_test_support PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_link_libraries(hbg_test_support PUBLIC hbg_test_base)
endif()

file(GLOB_RECURSE HBG_TEST_SOURCES CONFIGURE_DEPENDS tests/unit/*_test.c tests/backend/*_test.c tests/stress/*_test.c
    tests/regress/*_test.c tests/fault/*_test.c tests/fuzz/*_test.c tests/sim/*_test.c)
if(NOT HBG_DEBUG)           # there are no seams to hold anybody at: src/sched/seam.h
    list(FILTER HBG_TEST_SOURCES EXCLUDE REGEX "/seam_test\\.c$")
endif()
foreach(source ${HBG_TEST_SOURCES})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "_test\\.c$" "" name ${name})
    string(REPLACE "/" "_" target "test_${name}")
    get_filename_component(folder ${name} DIRECTORY)
    get_filename_component(binary ${name} NAME)
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${binary}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/${folder})
    if(TARGET hbg_test_support)
        target_link_libraries(${target} PRIVATE hbg_test_support)
    endif()
    if(TARGET hbg_tools AND NOT folder MATCHES "^unit/(base|atomic|image|graph|sched|core|platform|run)(/|$)")
        target_link_libraries(${target} PRIVATE hbg_workloads hbg_tools)
    endif()
    target_link_libraries(${target} PRIVATE hbg_test_base hbg_static ${HBG_CMOCKA_LIBRARY} ${CMAKE_DL_LIBS} m)
    # "wraps: mmap realloc" in a test's head: these calls of the library go to __wrap_mmap() and __wrap_realloc() of the test
    file(STRINGS ${source} wrapped REGEX "wraps: [a-z_ ]+" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*wraps: " "" wrapped "${wrapped}")
    string(REGEX MATCHALL "[a-z_]+" wrapped "${wrapped}")
    foreach(function ${wrapped})
        target_link_options(${target} PRIVATE LINKER:--wrap=${function})
    endforeach()
    add_test(NAME ${name} COMMAND ${target})
    hbg_test_register(${name})
endforeach()

# ---- behaviour on simulated devices: tests of tests/backend whose kernels neither sleep nor wait for one another ----

set(HBG_SIM_SCALE 20)
if(HBG_SANITIZE)
    set(HBG_SIM_SCALE 2)
endif()
foreach(test arguments:few claim:random definition:random definition_captures:random definition_guards:random definition_storage:random definition_store:random degree:round describe:few describe_bodies:few failure:random history:few host_data:few limit:random order:random poison:random
        random_bodies:few random_graph:random in_place:random reads:few replay:few scalars:few scope:random subgraph:round views:few warm:random)
    string(REGEX REPLACE ":.*" "" name ${test})
    string(REGEX REPLACE ".*:" "" mode ${test})
    add_test(NAME sim/backend/${name} COMMAND test_backend_${name})
    hbg_test_register(sim/backend/${name})
    set_tests_properties(sim/backend/${name} PROPERTIES LABELS sim
        ENVIRONMENT "${HBG_TEST_ENVIRONMENT};HBG_TEST_PLATFORM=sim:mode=${mode};HBG_TEST_SCALE=${HBG_SIM_SCALE}")
endforeach()

# ---- models under Relacy ----

file(GLOB_RECURSE HBG_MODEL_SOURCES CONFIGURE_DEPENDS tests/model/*_model.cpp)
find_path(HBG_RELACY_INCLUDE relacy/relacy.hpp PATH_SUFFIXES . relacy)
if(HBG_MODEL_SOURCES AND NOT HBG_RELACY_INCLUDE)
    message(FATAL_ERROR "relacy is missing (scripts/setup.sh installs it); -DHBG_BUILD_TESTS=OFF builds without tests")
endif()
if(NOT HBG_SANITIZE)        # Relacy switches stacks itself and explores orders that no sanitizer would add to
    foreach(source ${HBG_MODEL_SOURCES})
        file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/tests ${source})
        string(REGEX REPLACE "_model\\.cpp$" "" name ${name})
        string(REPLACE "/" "_" target "test_${name}")
        get_filename_component(binary ${name} NAME)
        add_executable(${target} ${source})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${binary}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/model)
        target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/tests
            ${CMAKE_CURRENT_SOURCE_DIR}/include)
        target_include_directories(${target} SYSTEM PRIVATE ${HBG_RELACY_INCLUDE})
        target_compile_options(${target} PRIVATE -O2)
        target_link_libraries(${target} PRIVATE hbg_flags)
        add_test(NAME ${name} COMMAND ${target})
        hbg_test_register(${name})
        # "weakened: 1 2" in a model's head: with those orders taken away it must not hold
        file(STRINGS ${source} weakened REGEX "weakened: [0-9 ]+" LIMIT_COUNT 1)
        string(REGEX MATCHALL "[0-9]+" weakened "${weakened}")
        foreach(order ${weakened})
            add_executable(${target}_weak_${order} ${source})
            set_target_properties(${target}_weak_${order} PROPERTIES OUTPUT_NAME ${binary}_weak_${order}
                RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/model)
            target_include_directories(${target}_weak_${order} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
            target_include_directories(${target}_weak_${order} SYSTEM PRIVATE ${HBG_RELACY_INCLUDE})
            target_compile_definitions(${target}_weak_${order} PRIVATE HBG_WEAKEN=${order})
            target_compile_options(${target}_weak_${order} PRIVATE -O1)
            target_link_libraries(${target}_weak_${order} PRIVATE hbg_flags)
            add_test(NAME ${name}/weakened/${order} COMMAND ${target}_weak_${order})
            hbg_test_register(${name}/weakened/${order})
            set_tests_properties(${name}/weakened/${order} PROPERTIES WILL_FAIL TRUE)
        endforeach()
    endforeach()
endif()

# ---- bench of the scheduler alone, not installed ----

add_executable(sched_bench EXCLUDE_FROM_ALL bench/sched/sched_bench.c)
target_link_libraries(sched_bench PRIVATE hbg_test_base hbg_test_support hbg_static)

# ---- what views off the grid cost a submit: cmake --build build/test --target views_bench ----

add_executable(views_bench EXCLUDE_FROM_ALL bench/views/views_bench.c)
target_link_libraries(views_bench PRIVATE hbg_flags hbg_static)

# ---- instructions a task, counted by tests/cli/budget_test.py ----

if(NOT HBG_SANITIZE AND TARGET hbg_tools)
    add_executable(budget_bench bench/budget/budget_bench.c)
    set_target_properties(budget_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/bench)
    target_link_libraries(budget_bench PRIVATE hbg_test_base hbg_tools hbg_static)
endif()

# ---- scripts ----

find_program(HBG_PYTHON python3)
file(GLOB HBG_TEST_SCRIPTS CONFIGURE_DEPENDS tests/cli/*_test.sh tests/docs/*_test.sh)
if(NOT HBG_SANITIZE)        # outside programs know nothing of a sanitizer's runtime
    file(GLOB HBG_TEST_ABI_SCRIPTS CONFIGURE_DEPENDS tests/abi/*_test.sh)
endif()
if(HBG_PYTHON)
    file(GLOB HBG_TEST_PYTHON CONFIGURE_DEPENDS tests/cli/*_test.py tests/docs/*_test.py)
endif()
foreach(source ${HBG_TEST_SCRIPTS} ${HBG_TEST_ABI_SCRIPTS} ${HBG_TEST_PYTHON})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/tests ${source})
    if(source MATCHES "\\.py$")
        set(interpreter ${HBG_PYTHON})
    else()
        set(interpreter bash)
    endif()
    string(REGEX REPLACE "_test\\.(sh|py)$" "" name ${name})
    add_test(NAME ${name} COMMAND ${interpreter} ${source})
    hbg_test_register(${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)        # a tool that the script needs is not there; it says which
endforeach()

# ---- the source broken in one place at a time: takes hours, so only where it is asked for ----

if(HBG_PYTHON)
    add_custom_target(mutate-submit COMMAND ${HBG_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/scripts/mutate_submit.py USES_TERMINAL)
    add_custom_target(mutate-sched COMMAND ${HBG_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/scripts/mutate_sched.py USES_TERMINAL)
endif()

# ---- headers alone, device sources as C++ ----

set(HBG_CHECK_FLAGS -fsyntax-only -Wall -Wextra -Werror -pedantic -I${CMAKE_CURRENT_SOURCE_DIR}/include)
file(GLOB_RECURSE HBG_PUBLIC_HEADERS CONFIGURE_DEPENDS include/*.h)
foreach(header ${HBG_PUBLIC_HEADERS})
    get_filename_component(name ${header} NAME_WE)
    add_test(NAME abi/header/${name}/c11 COMMAND ${CMAKE_C_COMPILER} -x c -std=c11 ${HBG_CHECK_FLAGS} ${header})
    add_test(NAME abi/header/${name}/cxx17 COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++17 ${HBG_CHECK_FLAGS} ${header})
    set_tests_properties(abi/header/${name}/c11 abi/header/${name}/cxx17 PROPERTIES LABELS abi)
endforeach()

# A C++ program may have warnings that C code cannot avoid; the headers come without them, with both compilers where both are there.
set(HBG_STRICT_FLAGS -std=c++17 ${HBG_CHECK_FLAGS} -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wzero-as-null-pointer-constant
    -Wcast-qual -Wcast-align -Wundef -Wdouble-promotion)
foreach(compiler g++ clang++)
    find_program(HBG_STRICT_${compiler} ${compiler})
    if(HBG_STRICT_${compiler})
        set(more)
        if(compiler STREQUAL g++)
            set(more -Wuseless-cast -Wlogical-op -Wduplicated-cond)
        endif()
        add_test(NAME abi/headers_strict/${compiler} COMMAND ${HBG_STRICT_${compiler}} ${HBG_STRICT_FLAGS} ${more}
            ${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/strict.cpp)
        set_tests_properties(abi/headers_strict/${compiler} PROPERTIES LABELS abi)
    endif()
endforeach()

file(GLOB_RECURSE HBG_DEVICE_SOURCES CONFIGURE_DEPENDS src/sched/*.c src/core/*.c src/atomic/*.c src/image/*.c)
list(FILTER HBG_DEVICE_SOURCES EXCLUDE REGEX "_model\\.c$")
foreach(header check bits hash clock)
    list(APPEND HBG_DEVICE_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/src/base/${header}.h)
endforeach()
foreach(source ${HBG_DEVICE_SOURCES})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/src ${source})
    string(REGEX REPLACE "\\.[ch]$" "" name ${name})
    add_test(NAME abi/cxx17/${name} COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror
        -D_GNU_SOURCE=1 -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${CMAKE_CURRENT_SOURCE_DIR}/src -I${HBG_GENERATED_DIR} ${source})
    set_tests_properties(abi/cxx17/${name} PROPERTIES LABELS abi)
endforeach()
