// SPDX-License-Identifier: Apache-2.0
/* What a monitoring tool in C does. */
#include "dsmi/dcmi_interface_api.h"

int main(void) {
  int count = 0;
  struct dsmi_hbm_info_stru memory;
  if (dcmi_init() != DCMI_OK || dsmi_get_device_count(&count) != DSMI_OK) return 1;
  return dsmi_get_hbm_info(0, &memory);
}
