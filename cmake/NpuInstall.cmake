# SPDX-License-Identifier: Apache-2.0
# cmake --install: the programs npusim and npudemo, libnpudrv and libnpusim, what programs of others
# link (libascendcl, libruntime, libascend_hal, libhccl, libnpuclient, libnpushare), the Python package, public headers, the
# configurations, pages and examples, the manual pages, completion for shells, the licence, a CMake
# package (find_package(npusim)) and a pkg-config file.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # what is installed needs no tests
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NPU_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/npusim)
file(RELATIVE_PATH NPU_BIN_TO_LIB ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

install(TARGETS npu_base npu_abi npu_platform EXPORT npusimTargets)
install(DIRECTORY include/npu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp
  PATTERN *.h)
install(DIRECTORY include/dsmi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/npusim/configs OPTIONAL)
install(DIRECTORY workloads/graphs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/npusim/graphs OPTIONAL)
# Operators are compiled on demand, from this folder and the installed headers.
install(DIRECTORY kernels/device DESTINATION ${CMAKE_INSTALL_DATADIR}/npusim/operators/kernels
  FILES_MATCHING PATTERN *.hpp PATTERN *.cpp PATTERN *.yaml PATTERN *.md)
# So that they count their instructions, and programs that users build.
if(NPU_COUNTING)
  install(TARGETS npu_counting_assembler
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/npusim/counting/${NPU_COUNTING_DIGEST})
endif()
# The firmware of the card's cores and kernels, for programs on the driver's runtime.
install(TARGETS scheduler executor pager tensors empty elementwise matmul
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/npusim/programs)
if(TARGET npu_python)
  install(TARGETS npu_python LIBRARY DESTINATION lib/python3/dist-packages/npusim)
  install(TARGETS vector_example LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/npusim/programs)
  foreach(name IN LISTS NPU_PYTHON_SOURCES)
    cmake_path(GET name PARENT_PATH folder)
    install(FILES apps/python/${name}.py DESTINATION lib/python3/dist-packages/${folder})
  endforeach()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/${NPU_PYTHON_METADATA}
    DESTINATION lib/python3/dist-packages)
endif()
# Pages and examples lie there as in a checkout, so that what pages, manual pages and --help name by
# paths such as docs/sweeps.md and configs/keys.md is found from one folder.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "*.1" EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(RELATIVE_PATH NPU_DOC_TO_CONFIGS ${CMAKE_INSTALL_FULL_DOCDIR}
  ${CMAKE_INSTALL_FULL_DATADIR}/npusim/configs)
install(CODE "file(CREATE_LINK ${NPU_DOC_TO_CONFIGS}
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/configs\" SYMBOLIC)")
install(DIRECTORY machine/testing/main/ DESTINATION ${CMAKE_INSTALL_DATADIR}/npusim/testing
  FILES_MATCHING PATTERN *.hpp PATTERN *.cpp)
install(FILES docs/npusim.1 docs/npudemo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

# npudrv: the driver. npudrv_counted: the one npusim runs, which counts its instructions. npudsmi: libnpudsmi, device management in C. npu_jit: libnpujit, kernels on demand. npu_simulator: libnpusim, the simulator behind include/npu/sim.
foreach(library npudrv npudrv_counted npudsmi npu_jit npu_simulator)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${library} EXPORT npusimTargets)
  endif()
endforeach()
if(TARGET npu_simulator)
  set_target_properties(npu_simulator PROPERTIES OUTPUT_NAME npusim EXPORT_NAME npusim)
endif()
if(TARGET npusim)
  set_target_properties(npusim PROPERTIES INSTALL_RPATH "$ORIGIN/${NPU_BIN_TO_LIB}")
  install(TARGETS npusim)
  # As tools/cli/CMakeLists.txt has made them.
  install(FILES ${PROJECT_BINARY_DIR}/tools/cli/completion/npusim
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/tools/cli/completion/_npusim
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
# Loaded by npusim to serve metrics, and to read ONNX files; nothing is linked to them.
if(TARGET npu_http)
  set_target_properties(npu_http PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  install(TARGETS npu_http LIBRARY NAMELINK_SKIP)
endif()
if(TARGET npu_onnx)
  set_target_properties(npu_onnx PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN")
  install(TARGETS npu_onnx LIBRARY NAMELINK_SKIP)
endif()
if(TARGET npudemo)
  set_target_properties(npudemo PROPERTIES INSTALL_RPATH "$ORIGIN/${NPU_BIN_TO_LIB}")
  install(TARGETS npudemo)
endif()

# The names that tools of device management open: one library (apps/dsmi/CMakeLists.txt).
if(TARGET npudsmi)
  foreach(name dcmi dsmi drvdsmi_host)
    install(CODE "file(CREATE_LINK libnpudsmi.so.${PROJECT_VERSION}
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${name}.so\" SYMBOLIC)")
  endforeach()
endif()

# What programs of others are linked to: `cc hello.c -lascendcl`.
foreach(library npuclient ascendcl acl_rt runtime ascend_hal hccl npushare)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${library} EXPORT npusimTargets)
  endif()
endforeach()
install(DIRECTORY apps/compat/acl/include/acl apps/compat/acl/include/aclnn apps/compat/acl/include/aclnnop apps/compat/acl/include/mstx apps/compat/acl/include/profiling apps/compat/rt/include/acl apps/compat/rt/include/runtime apps/compat/hccl/include/hccl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)
install(FILES apps/compat/acl/include/securec.h apps/compat/hal/include/ascend_hal.h apps/compat/hal/include/ascend_hal_external.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
include(apps/compat/toolkit/install.cmake)

install(EXPORT npusimTargets NAMESPACE npusim:: DESTINATION ${NPU_CMAKE_DIR})
configure_package_config_file(cmake/npusimConfig.cmake.in npusimConfig.cmake
  INSTALL_DESTINATION ${NPU_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_LIBDIR
  CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(npusimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/npusimConfig.cmake ${PROJECT_BINARY_DIR}/npusimConfigVersion.cmake
  DESTINATION ${NPU_CMAKE_DIR})

configure_file(cmake/npudrv.pc.in npudrv.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/npudrv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
