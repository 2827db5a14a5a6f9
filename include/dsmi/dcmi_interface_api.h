/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of DCMI that monitoring tools load (docs/sources/management.md, G1), over those of
   dsmi_common_interface.h, which say what is not said here. A card has one chip: `device_id` is 0.

   Every function returns 0, or one of the codes below, and then has written nothing. */
#ifndef NPU_DCMI_INTERFACE_API_H
#define NPU_DCMI_INTERFACE_API_H

#include "dsmi/dsmi_common_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DCMI_OK 0
#define DCMI_ERR_CODE_INVALID_PARAMETER (-8001)
#define DCMI_ERR_CODE_INNER_ERR (-8005) /* also DSMI_ERROR_BUSY and DSMI_ERROR_NO_RESOURCES */
#define DCMI_ERR_CODE_TIME_OUT (-8006)
#define DCMI_ERR_CODE_INVALID_DEVICE_ID (-8007)
#define DCMI_ERR_CODE_DEVICE_NOT_EXIST (-8008)
#define DCMI_ERR_CODE_NOT_SUPPORT (-8255)

#define DCMI_VERSION_MAX 64 /* room that a version needs at most */

/* Cards must be attached, or NPUSIM_MANAGEMENT name a socket. */
NPU_DSMI_API int dcmi_init(void);
NPU_DSMI_API int dcmi_get_dcmi_version(char* dcmi_version, unsigned int len);
NPU_DSMI_API int dcmi_get_driver_version(char* driver_version, unsigned int len);

NPU_DSMI_API int dcmi_get_card_list(int* card_num, int* card_list, int list_len);
NPU_DSMI_API int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len);
NPU_DSMI_API int dcmi_get_device_num_in_card(int card_id, int* device_num);
/* Chips without CPUs of their own to manage them: mcu and cpu are -1. */
NPU_DSMI_API int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id,
                                            int* cpu_id);
enum dcmi_unit_type { NPU_TYPE = 0, MCU_TYPE = 1, CPU_TYPE = 2 };
NPU_DSMI_API int dcmi_get_device_type(int card_id, int device_id, enum dcmi_unit_type* device_type);
NPU_DSMI_API int dcmi_get_device_logic_id(int* device_logic_id, int card_id, int device_id);

struct dcmi_chip_info {
  unsigned char chip_type[MAX_CHIP_NAME];
  unsigned char chip_name[MAX_CHIP_NAME];
  unsigned char chip_ver[MAX_CHIP_NAME];
  unsigned int aicore_cnt;
};
struct dcmi_chip_info_v2 {
  unsigned char chip_type[MAX_CHIP_NAME];
  unsigned char chip_name[MAX_CHIP_NAME];
  unsigned char chip_ver[MAX_CHIP_NAME];
  unsigned int aicore_cnt;
  unsigned char npu_name[MAX_CHIP_NAME];
};
NPU_DSMI_API int dcmi_get_device_chip_info(int card_id, int device_id,
                                           struct dcmi_chip_info* chip_info);
NPU_DSMI_API int dcmi_get_device_chip_info_v2(int card_id, int device_id,
                                              struct dcmi_chip_info_v2* chip_info);

struct dcmi_pcie_info_all {
  unsigned int venderid, subvenderid, deviceid, subdeviceid;
  int domain;
  unsigned int bdf_busid, bdf_deviceid, bdf_funcid;
  unsigned char reserve[32];
};
NPU_DSMI_API int dcmi_get_device_pcie_info_v2(int card_id, int device_id,
                                              struct dcmi_pcie_info_all* pcie_info);
/* Rates in MB/ms, over `profiling_time` ms, which the call takes. Latencies are not supported and
   read 0xFFFFFFFF. */
#define DCMI_PROFILING_TIME_MAX 2000
struct dcmi_pcie_link_bandwidth_info {
  int profiling_time; /* in: 1 .. DCMI_PROFILING_TIME_MAX */
  unsigned int tx_p_bw, tx_np_bw, tx_cpl_bw, tx_np_lantency;
  unsigned int rx_p_bw, rx_np_bw, rx_cpl_bw;
};
NPU_DSMI_API int dcmi_get_pcie_link_bandwidth_info(int card_id, int device_id,
                                                   struct dcmi_pcie_link_bandwidth_info* info);

NPU_DSMI_API int dcmi_get_device_health(int card_id, int device_id, unsigned int* health);
/* `list_len`: room; what does not fit is left out. */
NPU_DSMI_API int dcmi_get_device_errorcode_v2(int card_id, int device_id, int* error_count,
                                              unsigned int* error_code_list, unsigned int list_len);
NPU_DSMI_API int dcmi_get_device_errorcode_string(int card_id, int device_id,
                                                  unsigned int error_code,
                                                  unsigned char* error_info, int buf_size);
NPU_DSMI_API int dcmi_get_device_utilization_rate(int card_id, int device_id, int input_type,
                                                  unsigned int* utilization_rate);
NPU_DSMI_API int dcmi_get_device_frequency(int card_id, int device_id, int input_type,
                                           unsigned int* frequency);
struct dcmi_aicore_info {
  unsigned int freq, cur_freq; /* MHz */
};
NPU_DSMI_API int dcmi_get_device_aicore_info(int card_id, int device_id,
                                             struct dcmi_aicore_info* aicore_info);
struct dcmi_aicpu_info {
  unsigned int max_freq, cur_freq, aicpu_num;
  unsigned int util_rate[TAISHAN_CORE_NUM];
};
NPU_DSMI_API int dcmi_get_device_aicpu_info(int card_id, int device_id,
                                            struct dcmi_aicpu_info* aicpu_info);
struct dcmi_hbm_info {
  unsigned long long memory_size;  /* MB */
  unsigned int freq;               /* MHz */
  unsigned long long memory_usage; /* MB */
  int temp;                        /* LP_TEMP_INVALID_VALUE: not known */
  unsigned int bandwith_util_rate; /* percent */
};
NPU_DSMI_API int dcmi_get_device_hbm_info(int card_id, int device_id,
                                          struct dcmi_hbm_info* hbm_info);
enum dcmi_device_type {
  DCMI_DEVICE_TYPE_DDR = 0,
  DCMI_DEVICE_TYPE_SRAM,
  DCMI_DEVICE_TYPE_HBM,
  DCMI_DEVICE_TYPE_NONE = 0x7fffffff
};
struct dcmi_ecc_info {
  int enable_flag;
  unsigned int single_bit_error_cnt, double_bit_error_cnt;
  unsigned int total_single_bit_error_cnt, total_double_bit_error_cnt;
  unsigned int single_bit_isolated_pages_cnt, double_bit_isolated_pages_cnt;
};
NPU_DSMI_API int dcmi_get_device_ecc_info(int card_id, int device_id,
                                          enum dcmi_device_type input_type,
                                          struct dcmi_ecc_info* ecc_info);
/* dsmi_clear_ecc_isolated_statistics_info() of HBM. */
NPU_DSMI_API int dcmi_set_device_clear_ecc_statistics_info(int card_id, int device_id);
NPU_DSMI_API int dcmi_get_device_temperature(int card_id, int device_id, int* temperature);
NPU_DSMI_API int dcmi_get_device_power_info(int card_id, int device_id, int* power);
NPU_DSMI_API int dcmi_get_device_voltage(int card_id, int device_id, unsigned int* voltage);

struct dcmi_proc_mem_info {
  int proc_id;
  unsigned long proc_mem_usage; /* bytes */
};
#define DCMI_PROCESSES_MAX 64
/* Room for DCMI_PROCESSES_MAX. */
NPU_DSMI_API int dcmi_get_device_resource_info(int card_id, int device_id,
                                               struct dcmi_proc_mem_info* proc_info, int* proc_num);

/* As dsmi_get_device_info() and dsmi_set_device_info(). */
#define DCMI_MAIN_CMD_EX_COMPUTING 0x8000
#define DCMI_EX_COMPUTING_SUB_CMD_TOKEN 0
struct dcmi_computing_token_stru {
  float value;
  unsigned char type, reserve_c;
  unsigned short reserve_s;
};
NPU_DSMI_API int dcmi_get_device_info(int card_id, int device_id, int main_cmd,
                                      unsigned int sub_cmd, void* buf, unsigned int* size);
NPU_DSMI_API int dcmi_set_device_info(int card_id, int device_id, int main_cmd,
                                      unsigned int sub_cmd, const void* buf, unsigned int buf_size);
NPU_DSMI_API int dcmi_create_vdevice(int card_id, int device_id,
                                     struct dsmi_create_vdev_res_stru* vdev,
                                     struct dsmi_create_vdev_result* out);
NPU_DSMI_API int dcmi_set_destroy_vdevice(int card_id, int device_id, unsigned int vdev_id);
/* A subscription of all cards has ids of -1. */
NPU_DSMI_API int dcmi_subscribe_fault_event(int card_id, int device_id,
                                            struct dsmi_event_filter filter,
                                            fault_event_callback handler);

#ifdef __cplusplus
}
#endif

#endif
