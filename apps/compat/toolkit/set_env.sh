# SPDX-License-Identifier: Apache-2.0
# To be sourced: where projects for the vendor's toolkit find npusim's libraries and headers.
ASCEND_HOME_PATH=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]:-$0}")")" && pwd)
export ASCEND_HOME_PATH
export ASCEND_INSTALL_PATH=$ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME=$ASCEND_HOME_PATH
export ASCENDC_CMAKE_DIR=$ASCEND_HOME_PATH/tikcpp/ascendc_kernel_cmake
