# SPDX-License-Identifier: Apache-2.0
# Run by cpack between installation and packing: what Debian wants of a package, and an installation
# elsewhere does not have.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(documents ${root}/share/doc/npusim)

# The loader finds /usr/lib by itself, and a path in the file would come before an administrator's.
file(GLOB programs ${root}/bin/* ${root}/lib/*.so.*)
foreach(program IN LISTS programs)
  if(NOT IS_SYMLINK ${program})
    file(RPATH_REMOVE FILE ${program})
  endif()
endforeach()

# The licence is one of those that every Debian system has; copyright names it.
file(REMOVE ${documents}/LICENSE)
file(COPY ${CPACK_NPU_DEBIAN_DIR}/copyright DESTINATION ${documents})
file(COPY ${CPACK_NPU_DEBIAN_DIR}/changelog DESTINATION ${documents})
file(GLOB pages ${root}/share/man/man*/*)
execute_process(COMMAND gzip -9nf ${documents}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${root}/share/lintian/overrides)
file(COPY_FILE ${CPACK_NPU_DEBIAN_DIR}/lintian-overrides ${root}/share/lintian/overrides/npusim)
file(GLOB_RECURSE files ${documents}/* ${root}/share/lintian/*)
foreach(file IN LISTS files)
  if(NOT IS_SYMLINK ${file})
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
