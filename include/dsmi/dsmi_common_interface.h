/* SPDX-License-Identifier: Apache-2.0 */
/* Device management in C, with the names, structures, units and numbers of DSMI
   (docs/sources/management.md G1, G3), in a header of npusim's own: libnpudsmi.

   Every function returns 0, or one of the codes below, and then has written nothing but what is
   said. A null pointer where a thing is needed, a device id beyond the count and a buffer that is
   too short are DSMI_ERROR_PARAMETER or DSMI_ERROR_INVALID_DEVICE. What the card or the simulator
   does not know is DSMI_ERROR_NOT_SUPPORT, never 0. Nothing is thrown. Any task or thread may call.

   Which cards there are says npu_dsmi_attach_socket(), npu::dsmi::attach() (npu/dsmi/attach.hpp)
   or, at the first call without either, the environment variable NPUSIM_MANAGEMENT, the path of the
   socket of a running `npusim serve --management PATH`. */
#ifndef NPU_DSMI_COMMON_INTERFACE_H
#define NPU_DSMI_COMMON_INTERFACE_H

#include <stddef.h>

#include "dsmi/dsmi_commands.h"
#include "dsmi/dsmi_error_code.h"
#include "dsmi/dsmi_event_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_CHIP_NAME 32
#define MAX_DEVICE_COUNT 64
#define TAISHAN_CORE_NUM 16 /* AICPUs that dsmi_get_aicpu_info() tells of */
#define DSMI_ERROR_CODES_MAX 128
#define DSMI_NOT_KNOWN 0xffffffffu   /* in a structure: a part that the card does not tell */
#define LP_TEMP_INVALID_VALUE (-128) /* in a structure: the temperature is not known */

/* --- Which server's cards. */

/* The cards of the npusim that serves the socket, in place of those before. DSMI_ERROR_NO_DEVICE:
   nobody does. */
NPU_DSMI_API int npu_dsmi_attach_socket(const char* path);
/* No cards any more; subscriptions end. */
NPU_DSMI_API void npu_dsmi_detach(void);

/* --- Cards. Ids are 0 .. count - 1, in the order of their DEVICE_INDEX. */

NPU_DSMI_API int dsmi_get_device_count(int* device_count);
/* `count`: room in the list, at least the number of devices. */
NPU_DSMI_API int dsmi_list_device(int device_id_list[], int count);

struct dsmi_chip_info_stru {
  unsigned char chip_type[MAX_CHIP_NAME]; /* "Ascend" */
  unsigned char chip_name[MAX_CHIP_NAME]; /* "910B2" */
  unsigned char chip_ver[MAX_CHIP_NAME];  /* "V1": the revision of configuration space */
};
NPU_DSMI_API int dsmi_get_chip_info(int device_id, struct dsmi_chip_info_stru* chip_info);

struct dsmi_board_info_stru {
  unsigned int board_id, pcb_id, bom_id, slot_id;
};
/* Not supported: no board is modelled. */
NPU_DSMI_API int dsmi_get_board_info(int device_id, struct dsmi_board_info_stru* board_info);

enum dsmi_boot_status {
  DSMI_BOOT_STATUS_UNINIT = 0,
  DSMI_BOOT_STATUS_BIOS = 1,
  DSMI_BOOT_STATUS_OS = 2,
  DSMI_BOOT_STATUS_FINISH = 3,
  DSMI_SYSTEM_START_FINISH = 16
};
/* DSMI_SYSTEM_START_FINISH when the card is ready, DSMI_BOOT_STATUS_BIOS until then. */
NPU_DSMI_API int dsmi_get_device_boot_status(int device_id, enum dsmi_boot_status* boot_status);

struct tag_pcie_idinfo {
  unsigned int deviceid, venderid, subvenderid, subdeviceid;
  unsigned int bdf_deviceid, bdf_busid, bdf_funcid;
};
NPU_DSMI_API int dsmi_get_pcie_info(int device_id, struct tag_pcie_idinfo* pcie_idinfo);

/* --- Use. In the interval since the last call with the same device and type; the first time since
   the card's reset. */

enum dsmi_utilization_type {
  DSMI_UTILIZATION_DDR = 1,           /* not supported: there is no DDR */
  DSMI_UTILIZATION_AICORE = 2,        /* all AI Cores, vector cores included */
  DSMI_UTILIZATION_AICPU = 3,         /* AICPUs, which are no AI Cores */
  DSMI_UTILIZATION_CTRLCPU = 4,       /* not supported */
  DSMI_UTILIZATION_DDR_BANDWIDTH = 5, /* not supported */
  DSMI_UTILIZATION_HBM = 6,           /* memory in use */
  DSMI_UTILIZATION_DDR_USED = 8,      /* not supported */
  DSMI_UTILIZATION_HBM_BANDWIDTH = 10,
  DSMI_UTILIZATION_CORE = 11,   /* cube cores, or coupled ones */
  DSMI_UTILIZATION_VECTOR = 12, /* vector cores, or the vector units of coupled ones */
  DSMI_UTILIZATION_OVERALL = 13,
  DSMI_UTILIZATION_CUBE = 14 /* cube cores, or the cube units of coupled ones */
};
/* Percent. A core is in use while it has a block of a kernel, waiting included; a unit of a coupled
   core while it works. */
NPU_DSMI_API int dsmi_get_device_utilization_rate(int device_id, int device_type,
                                                  unsigned int* utilization_rate);

#define DSMI_FREQUENCY_HBM 6
#define DSMI_FREQUENCY_AICORE_CURRENT 7
#define DSMI_FREQUENCY_AICORE_RATED 9
/* MHz. Other types are not supported. */
NPU_DSMI_API int dsmi_get_device_frequency(int device_id, int device_type, unsigned int* frequency);

struct dsmi_aicore_info_stru {
  unsigned int freq;    /* MHz, rated */
  unsigned int curfreq; /* MHz */
};
NPU_DSMI_API int dsmi_get_aicore_info(int device_id, struct dsmi_aicore_info_stru* aicore_info);

struct dsmi_aicpu_info_stru {
  unsigned int maxFreq, curFreq; /* MHz */
  unsigned int aicpuNum;
  unsigned int utilRate[TAISHAN_CORE_NUM]; /* percent, of the first ones; 0 where there is none */
};
NPU_DSMI_API int dsmi_get_aicpu_info(int device_id, struct dsmi_aicpu_info_stru* aicpu_info);

struct dsmi_hbm_info_stru {
  unsigned long long memory_size;  /* KB that can be allocated */
  unsigned int freq;               /* MHz, of the command bus */
  unsigned long long memory_usage; /* KB */
  int temp;                        /* LP_TEMP_INVALID_VALUE: not known */
  unsigned int bandwith_util_rate; /* percent, in the interval since the last call; DSMI_NOT_KNOWN:
                                      of a virtual function, which is not told the card's */
};
NPU_DSMI_API int dsmi_get_hbm_info(int device_id, struct dsmi_hbm_info_stru* hbm_info);

struct dsmi_memory_info_stru {
  unsigned long long memory_size; /* KB */
  unsigned int freq;              /* MHz */
  unsigned int utiliza;           /* percent */
};
/* Of DDR: not supported. */
NPU_DSMI_API int dsmi_get_memory_info(int device_id, struct dsmi_memory_info_stru* memory_info);

struct tag_cgroup_info {
  unsigned long long limit_in_bytes, max_usage_in_bytes, usage_in_bytes;
};
/* Device memory of the client that looks: its quota (npu/driver/quota.hpp), over all cards, and
 * what counts against it: one that it was given, or has set itself. The same numbers as of
 * dsmi_get_hbm_info(). Not supported for who has none. */
NPU_DSMI_API int dsmi_get_device_cgroup_info(int device_id, struct tag_cgroup_info* cgroup_info);

/* Degrees C, 0.1 W, 0.01 V. Not supported: nothing models them. */
struct dsmi_power_info_stru {
  unsigned short power;
};
NPU_DSMI_API int dsmi_get_device_temperature(int device_id, int* temperature);
NPU_DSMI_API int dsmi_get_device_power_info(int device_id, struct dsmi_power_info_stru* power_info);
NPU_DSMI_API int dsmi_get_device_voltage(int device_id, unsigned int* voltage);

/* Counters since the card's reset, npusim's own: who takes two readings has rates. */
struct npu_dsmi_traffic {
  unsigned long long time_ns;               /* of the reading, on the card's clock */
  unsigned long long hbm_read, hbm_written; /* bytes */
  unsigned long long hbm_rate;              /* bytes per second, at most */
  /* Bytes of TLPs that the card has received and sent over PCIe. */
  unsigned long long rx_posted, rx_non_posted, rx_completion;
  unsigned long long tx_posted, tx_non_posted, tx_completion;
  unsigned long long link_rate; /* bytes per second and direction, at most */
};
NPU_DSMI_API int npu_dsmi_get_traffic(int device_id, struct npu_dsmi_traffic* traffic);

/* --- Health and errors. */

/* 0 good, 1 minor, 2 major, 3 critical: the worst of the alarms that are up, which have come since
   the card's reset and are not cleared. */
NPU_DSMI_API int dsmi_get_device_health(int device_id, unsigned int* health);

/* Codes of the alarms that `health` is made of; room for DSMI_ERROR_CODES_MAX. */
NPU_DSMI_API int dsmi_get_device_errorcode(int device_id, int* errorcount, unsigned int* errorcode);
/* Text, with its zero; `buffsize` is at least 1. Longer texts are cut. DSMI_ERROR_NOT_EXIST: no
   such code. */
NPU_DSMI_API int dsmi_query_errorstring(int device_id, unsigned int errorcode,
                                        unsigned char* errorinfo, int buffsize);

typedef enum {
  DSMI_DEVICE_TYPE_DDR = 0,
  DSMI_DEVICE_TYPE_SRAM = 1,
  DSMI_DEVICE_TYPE_HBM = 2,
  DSMI_DEVICE_TYPE_NPU = 3,
  DSMI_HBM_RECORDED_SINGLE_ADDR = 4,
  DSMI_HBM_RECORDED_MULTI_ADDR = 5
} DSMI_DEVICE_TYPE;
struct dsmi_ecc_info_stru {
  int enable_flag;
  unsigned int single_bit_error_count; /* corrected */
  unsigned int double_bit_error_count; /* could not be */
};
/* HBM: since the card's reset. Recorded: over resets, in one of the two counts. Other memories are
   not supported. */
NPU_DSMI_API int dsmi_get_ecc_info(int device_id, int device_type,
                                   struct dsmi_ecc_info_stru* ecc_info);

struct dsmi_ecc_pages_stru {
  unsigned int corrected_ecc_errors_aggregate_total;
  unsigned int uncorrected_ecc_errors_aggregate_total;
  unsigned int isolated_pages_single_bit_error; /* of 2 MiB */
  unsigned int isolated_pages_double_bit_error;
};
/* Of HBM, over resets, until they are cleared. Clearing ends the memory's alarms, each with an
   event of assertion 0: health and error codes are without them. What dsmi_get_ecc_info() counts
   since the card's reset stays. Pages that were isolated are handed out again by the next driver.
 */
NPU_DSMI_API int dsmi_get_total_ecc_isolated_pages_info(int device_id, int module_type,
                                                        struct dsmi_ecc_pages_stru* pages);
NPU_DSMI_API int dsmi_clear_ecc_isolated_statistics_info(int device_id, int module_type);

/* --- Main and sub commands (dsmi/dsmi_commands.h). */

/* `size`: in: bytes of room in `buf`; out: bytes written. DSMI_ERROR_NOT_EXIST: a setting that
   nobody has made. */
NPU_DSMI_API int dsmi_get_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd,
                                      unsigned int sub_cmd, void* buf, unsigned int* size);
NPU_DSMI_API int dsmi_set_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd,
                                      unsigned int sub_cmd, const void* buf, unsigned int buf_size);

/* --- Resources. */

enum dsmi_owner_type { DSMI_DEV_RESOURCE = 0, DSMI_VDEV_RESOURCE = 1, DSMI_PROCESS_RESOURCE = 2 };
enum dsmi_dev_resource_type {
  DSMI_DEV_STREAM_ID = 0,
  DSMI_DEV_EVENT_ID = 1,
  DSMI_DEV_NOTIFY_ID = 2,
  DSMI_DEV_MODEL_ID = 3,
  DSMI_DEV_HBM_TOTAL = 4, /* unsigned long long, bytes */
  DSMI_DEV_HBM_FREE = 5,  /* unsigned long long, bytes */
  DSMI_DEV_DDR_TOTAL = 6,
  DSMI_DEV_DDR_FREE = 7,
  DSMI_DEV_PROCESS_PID = 8, /* int each: processes with compute queues */
  DSMI_DEV_PROCESS_MEM = 9  /* unsigned long long, bytes; owner: DSMI_PROCESS_RESOURCE, its pid */
};
struct dsmi_resource_para {
  unsigned int owner_type, owner_id, resource_type, tsid;
  unsigned int reserve[8];
};
struct dsmi_resource_info {
  unsigned int buf_len; /* in: bytes of room; out: bytes written */
  void* buf;
  unsigned int reserve[8];
};
/* Types without a remark are not supported. DSMI_ERROR_NOT_EXIST: no such process. */
NPU_DSMI_API int dsmi_get_resource_info(unsigned int device_id, struct dsmi_resource_para* para,
                                        struct dsmi_resource_info* info);

#define AICORE_MASK_NUM 2
struct dsmi_capability_group_info {
  unsigned int group_id, state, extend_attribute;
  unsigned int aicore_number, aivector_number, sdma_number, aicpu_number, active_sq_number;
  unsigned int aicore_mask[AICORE_MASK_NUM];
  unsigned int vfid, poolid, poolid_max, res[3];
};
/* Groups of AI Cores (npu/driver/compute_groups.hpp) of a card that the program drives; others are
 * not supported. `ts_id` is 0. A group is made of the clusters of `aicore_mask`, or, if that is 0,
 * of the lowest `aicore_number`, with their vector cores, and under `group_id`, 1 to 31; sdma,
 * aicpu and active_sq numbers must be 0, for these are not divided: else not supported.
 * `group_info` says afterwards what there is. DSMI_ERROR_BUSY: a process is open on the card. */
#define DSMI_CAPABILITY_GROUP_CREATED 1u /* state; 0: there is none */
#define DSMI_CAPABILITY_GROUP_DEFAULT                        \
  1u /* extend_attribute of group 0: what no other group has \
      */
NPU_DSMI_API int dsmi_create_capability_group(int device_id, int ts_id,
                                              struct dsmi_capability_group_info* group_info);
NPU_DSMI_API int dsmi_delete_capability_group(int device_id, int ts_id, int group_id);
/* `group_id` -1: all, in order, and of a larger array state 0 in the rest; DSMI_ERROR_PARAMETER:
 * `group_count` is less than there are. Else one, in the first entry. */
NPU_DSMI_API int dsmi_get_capability_group_info(int device_id, int ts_id, int group_id,
                                                struct dsmi_capability_group_info* group_info,
                                                int group_count);

/* --- Virtual devices: what npu::dsmi::VirtualDevices offers; not supported without it. */

#define DSMI_VDEV_RES_NAME_LEN 16
#define DSMI_VDEV_FOR_RESERVE 32
#define DSMI_VDEV_RESULT_RESERVE 28
#define DSMI_SOC_SPLIT_MAX 32
#define DSMI_VDEV_ALL 0xffffu
struct dsmi_base_resource {
  unsigned long long token, token_max, task_timeout;
  unsigned int vfg_id;
  unsigned char vip_mode;
  unsigned char reserved[DSMI_VDEV_FOR_RESERVE - 1];
};
struct dsmi_computing_configurable {
  unsigned long long memory_size; /* MB */
  float aic, aiv;
  unsigned short dsa, rtsq, cdqm;
  unsigned short topic_schedule_aicpu, host_ctrl_cpu, host_aicpu, device_aicpu;
  unsigned char reserved[DSMI_VDEV_FOR_RESERVE];
};
struct dsmi_computing_resource {
  float aic, aiv;
  unsigned short dsa, rtsq, acsq, cdqm, c_core, ffts, sdma, pcie_dma;
  unsigned long long memory_size; /* MB */
  unsigned int event_id, notify_id, stream_id, model_id;
  unsigned short topic_schedule_aicpu, host_ctrl_cpu, host_aicpu, device_aicpu;
  unsigned short topic_ctrl_cpu_slot;
  unsigned int vdev_aicore_utilization;
  unsigned char reserved[DSMI_VDEV_FOR_RESERVE - 4];
};
struct dsmi_media_resource {
  float jpegd, jpege, vpc, vdec, pngd, venc;
  unsigned char reserved[DSMI_VDEV_FOR_RESERVE];
};
struct dsmi_create_vdev_res_stru {
  char name[DSMI_VDEV_RES_NAME_LEN]; /* of a template; empty: by the numbers */
  struct dsmi_base_resource base;
  struct dsmi_computing_configurable computing;
  struct dsmi_media_resource media;
};
struct dsmi_create_vdev_result {
  unsigned int vdev_id, pcie_bus, pcie_device, pcie_func, vfg_id, vf_id;
  unsigned char reserved[DSMI_VDEV_RESULT_RESERVE];
};
struct dsmi_vdev_query_info {
  char name[DSMI_VDEV_RES_NAME_LEN];
  unsigned int status, is_container_used, vfid, reserved;
  unsigned long long container_id;
  struct dsmi_base_resource base;
  struct dsmi_computing_resource computing;
  struct dsmi_media_resource media;
};
struct dsmi_vdev_query_stru {
  unsigned int vdev_id; /* in */
  struct dsmi_vdev_query_info query_info;
};
struct dsmi_soc_vdev_ratio {
  unsigned int vdev_id; /* in */
  unsigned int ratio;   /* percent, rounded */
};
struct dsmi_soc_free_resource {
  unsigned int vfg_num, vfg_bitmap;
  struct dsmi_base_resource base;
  struct dsmi_computing_resource computing;
  struct dsmi_media_resource media;
};
struct dsmi_soc_total_resource {
  unsigned int vdev_num;
  unsigned int vdev_id[DSMI_SOC_SPLIT_MAX];
  unsigned int vfg_num, vfg_bitmap;
  struct dsmi_base_resource base;
  struct dsmi_computing_resource computing;
  struct dsmi_media_resource media;
};
NPU_DSMI_API int dsmi_create_vdevice(unsigned int device_id, unsigned int vdev_id,
                                     struct dsmi_create_vdev_res_stru* resource,
                                     struct dsmi_create_vdev_result* result);
NPU_DSMI_API int dsmi_destroy_vdevice(unsigned int device_id, unsigned int vdev_id);

#ifdef __cplusplus
}
#endif

#endif
