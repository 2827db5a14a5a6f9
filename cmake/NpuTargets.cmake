# SPDX-License-Identifier: Apache-2.0
# The house's directions: target -> targets it may link. tests/architecture checks the same over
# every #include line.
set(NPU_ALLOWED_npu_base "")
set(NPU_ALLOWED_npu_abi "npu_base")
set(NPU_ALLOWED_npu_platform "npu_abi;npu_base")
set(NPU_ALLOWED_npudrv "npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npudrv_counted "${NPU_ALLOWED_npudrv}")
set(NPU_ALLOWED_npudsmi "npudrv;npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npudsmi_counted "npudrv_counted;npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_counting "")
set(NPU_ALLOWED_npu_jit "npu_base")
set(NPU_ALLOWED_npu_operators "npu_jit;npudrv_counted;npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_config "npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_vfio_user "npu_base")
set(NPU_ALLOWED_npu_model "npu_vfio_user;npu_config;npu_platform;npu_abi;npu_base;systemc")
set(NPU_ALLOWED_npu_replay "npu_model;npu_config;npu_base;systemc")
set(NPU_ALLOWED_npu_test_support "npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_html "npu_base")
set(NPU_ALLOWED_npu_timeline "npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_reports "npu_platform;npu_base")
# Programs of others are linked to them.
set(NPU_ALLOWED_ascendcl "")
set(NPU_ALLOWED_acl_rt "")
set(NPU_ALLOWED_ascend_hal "")
set(NPU_ALLOWED_npushare "")
set(NPU_ALLOWED_npu_exec "npudrv_counted;npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_machine_view "npu_timeline;npu_reports;npu_model;npu_config;npu_platform;npu_abi;npu_base")
set(NPU_ALLOWED_npu_workloads "npu_machine_view;npu_timeline;npu_replay;npu_operators;npu_jit;npu_reports;npudrv_counted;npu_model;npu_config;npu_platform;npu_abi;npu_base")

# npu_library(name [SHARED|STATIC] SOURCES files... LINKS npu targets... [EXTERNAL libraries...])
function(npu_library name)
  cmake_parse_arguments(ARG "SHARED" "" "SOURCES;LINKS;EXTERNAL;PCH" ${ARGN})
  foreach(link IN LISTS ARG_LINKS)
    if(DEFINED NPU_ALLOWED_${name} AND NOT link IN_LIST NPU_ALLOWED_${name})
      message(FATAL_ERROR "${name} may not depend on ${link} (cmake/NpuTargets.cmake)")
    endif()
  endforeach()
  if(ARG_SHARED)
    add_library(${name} SHARED ${ARG_SOURCES})
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} ${ARG_EXTERNAL} PRIVATE npu_flags)
  if(NPU_PCH AND ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${ARG_PCH})
  endif()
endfunction()

# Against tests that hang, nothing else.
set(NPU_HANG_SECONDS 2400)

# npu_test(name SOURCES files... LINKS targets... [SYSTEMC | MACHINE] [OPTIMISED] [SHARDS n]
#          [SLOW seconds] [SANITIZED filter] [UNSANITIZED names] [LABELS labels...])
# One test of ctest's per executable, or one per shard of its tests where it takes long.
# SYSTEMC: every test runs in a child of its own, because a SystemC kernel elaborates once.
# MACHINE: the same, with the machines of include/npu/testing.
# OPTIMISED: its own code takes long, which is compiled with -O1 then, not with -O0 as others'.
# SLOW: takes so long at most; not in the default run: `ctest -C slow`.
# SANITIZED: what a sanitizer runs of it unless NPU_FULL is on: a filter of gtest's, or `none` where
# other tests run the same code.
# UNSANITIZED: names, as of gtest's filter, of tests that bound this process' addresses, which a
# sanitizer's shadow memory needs: not run with one.
function(npu_test name)
  cmake_parse_arguments(ARG "SYSTEMC;MACHINE;OPTIMISED" "SLOW;SHARDS;SANITIZED;UNSANITIZED" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE NPU_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    NPU_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} npu_flags GTest::gmock)
  if(ARG_SYSTEMC)
    target_link_libraries(${name} PRIVATE npu_systemc_test_main)
  elseif(ARG_MACHINE)
    target_link_libraries(${name} PRIVATE npu_testing_main)
  else()
    target_link_libraries(${name} PRIVATE GTest::gmock_main)
  endif()
  if(ARG_OPTIMISED)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_link_libraries(${name} PRIVATE npu_test_flags)
  endif()
  if(NPU_PCH AND NOT ARG_OPTIMISED)
    target_precompile_headers(${name} REUSE_FROM npu_test_pch)
  endif()
  # Most of what a test file costs to compile are headers that its neighbours include as well.
  if(NPU_UNITY_TESTS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  set(environment "")
  if(NPU_SANITIZE AND ARG_SANITIZED AND NOT NPU_FULL)
    if(ARG_SANITIZED STREQUAL "none")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
      return()
    endif()
    set(environment "GTEST_FILTER=${ARG_SANITIZED}")
  elseif(NPU_SANITIZE AND ARG_UNSANITIZED)
    set(environment "GTEST_FILTER=-${ARG_UNSANITIZED}")
  endif()
  if(ARG_SLOW)
    add_test(NAME ${name} CONFIGURATIONS slow COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_SLOW} LABELS "slow;${ARG_LABELS}")
    return()
  endif()
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${NPU_HANG_SECONDS} LABELS "${ARG_LABELS}"
      ENVIRONMENT "${environment}")
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${name})
    set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT ${NPU_HANG_SECONDS}
      LABELS "${ARG_LABELS}"
      ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
