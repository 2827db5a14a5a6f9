# SPDX-License-Identifier: Apache-2.0
# find_package(ASC): the language ASC of this folder, `project(... LANGUAGES ASC)`, whose compiler is
# `npusim cc --host`. A source holds kernels, variables of global memory, and functions of the host's.
get_filename_component(NPUSIM_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
find_program(NPUSIM_PROGRAM npusim HINTS "${NPUSIM_TOOLKIT}/../../../bin")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ASC REQUIRED_VARS NPUSIM_PROGRAM)
