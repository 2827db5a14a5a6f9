# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian packages; set-up/packages.txt lists them.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)  # compressed timelines
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)  # lines of kernels
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)  # --metrics
pkg_check_modules(FUSE REQUIRED IMPORTED_TARGET fuse3)  # npusim sysfs --live
# Plots of pages, embedded with their licence.
find_file(NPU_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH REQUIRED)
find_file(NPU_CHART_JS_LICENCE copyright PATHS /usr/share/doc/libjs-chart.js NO_DEFAULT_PATH REQUIRED)

# ONNX models. Its headers leave the namespace to the build.
find_package(Protobuf REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
add_library(onnx_proto INTERFACE)
target_compile_definitions(onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(onnx_proto INTERFACE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)

find_path(SYSTEMC_INCLUDE_DIR systemc REQUIRED)
find_library(SYSTEMC_LIBRARY systemc REQUIRED)
add_library(systemc INTERFACE)
target_include_directories(systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIR})
target_compile_definitions(systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)
target_link_libraries(systemc INTERFACE ${SYSTEMC_LIBRARY} Threads::Threads)
# The library refers to sc_main(): every program links the archive member that defines it.
add_library(npu_sc_main STATIC ${CMAKE_SOURCE_DIR}/model/core/sc_main.cpp)
target_link_libraries(systemc INTERFACE npu_sc_main)
target_link_options(systemc INTERFACE -Wl,-u,sc_main)

if(NPU_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  find_package(BLAS REQUIRED)  # OpenBLAS: what npusim-bench compares products with
endif()
