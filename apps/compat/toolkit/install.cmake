# SPDX-License-Identifier: Apache-2.0
# Included by cmake/NpuInstall.cmake.
set(toolkit ${CMAKE_INSTALL_DATADIR}/npusim/ascend)
install(FILES apps/compat/toolkit/ascendc.cmake DESTINATION ${toolkit}/tikcpp/ascendc_kernel_cmake)
install(DIRECTORY apps/compat/toolkit/asc_modules DESTINATION ${toolkit}/tikcpp/ascendc_kernel_cmake
  PATTERN README.md EXCLUDE)
install(FILES apps/compat/toolkit/set_env.sh DESTINATION ${toolkit})
file(RELATIVE_PATH to_include ${CMAKE_INSTALL_PREFIX}/${toolkit}/include ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_PREFIX}/${toolkit}/lib64 ${CMAKE_INSTALL_FULL_LIBDIR})
set(npu_toolkit_links
  bin/setenv.bash=../set_env.sh
  include/base/acl_log.h=../acl/acl_log.h)
foreach(name nnopbase opapi msprofiler profapi ascend_dump ascendalog c_sec)
  list(APPEND npu_toolkit_links lib64/lib${name}.so=libascendcl.so)
endforeach()
foreach(name acl aclnn aclnnop mstx profiling securec.h hccl runtime ascend_hal.h ascend_hal_external.h)
  list(APPEND npu_toolkit_links include/${name}=${to_include}/${name})
endforeach()
# By both names: the linker and the loader look for what a library needs beside it.
foreach(name ascendcl acl_rt runtime ascend_hal hccl npuclient)
  foreach(end so so.${PROJECT_VERSION_MAJOR})
    list(APPEND npu_toolkit_links lib64/lib${name}.${end}=${to_lib}/lib${name}.${end})
  endforeach()
endforeach()
# Newer projects look in a folder of the machine's.
foreach(name include lib64 tikcpp)
  list(APPEND npu_toolkit_links ${CMAKE_SYSTEM_PROCESSOR}-linux/${name}=../${name})
endforeach()
foreach(link IN LISTS npu_toolkit_links)
  string(REGEX MATCH "^(.*)=(.*)$" parts ${link})
  install(CODE "set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${toolkit}/${CMAKE_MATCH_1}\")
    cmake_path(GET link PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    file(CREATE_LINK \"${CMAKE_MATCH_2}\" \"\${link}\" SYMBOLIC)")
endforeach()
