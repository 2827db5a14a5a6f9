# SPDX-License-Identifier: Apache-2.0
# cpack: a Debian package, which belongs into /usr, and a .tar.gz that runs where it is unpacked, of
# what `cmake --install` installs. What only Debian wants is in cmake/debian.
set(NPU_PACKAGE_MAINTAINER "npusim maintainers <npusim@users.noreply.github.com>" CACHE STRING
  "Whom the Debian package names")

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME npusim)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${NPU_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of a PCIe NPU that runs its real driver")
set(CPACK_PACKAGE_DESCRIPTION
"SystemC/TLM-2.0 models stand for host, PCI Express and an Ascend-like NPU card;
the user-space driver, the card's firmware and kernels run on them unchanged.
The package has simulator and driver, configurations of chips and systems, and
what other projects need to test a driver against them.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The headers include tl/expected.hpp; with what is recommended, projects can be built on them, and
# operators compiled. The Python package is of the interpreter that it was built for.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libexpected-dev, python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake, libgmock-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ninja-build, pkg-config")

foreach(file copyright changelog)
  configure_file(cmake/debian/${file}.txt debian/${file} @ONLY)
endforeach()
configure_file(cmake/debian/lintian-overrides debian/lintian-overrides COPYONLY)
set(CPACK_NPU_DEBIAN_DIR ${PROJECT_BINARY_DIR}/debian)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/prepare.cmake)
include(CPack)
