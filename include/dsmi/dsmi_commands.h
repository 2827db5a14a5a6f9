/* SPDX-License-Identifier: Apache-2.0 */
/* The main and sub commands of dsmi_get_device_info() and dsmi_set_device_info(), and what they
   carry: part of dsmi_common_interface.h, which includes it and says what its functions have in
   common. */
#ifndef NPU_DSMI_COMMANDS_H
#define NPU_DSMI_COMMANDS_H

typedef enum {
  DSMI_MAIN_CMD_LP = 8,
  DSMI_MAIN_CMD_MEMORY = 9,
  DSMI_MAIN_CMD_TS = 11,
  DSMI_MAIN_CMD_QOS = 13,
  DSMI_MAIN_CMD_SOC_INFO = 14,
  DSMI_MAIN_CMD_HCCS = 16,
  DSMI_MAIN_CMD_TEMP = 50,
  DSMI_MAIN_CMD_SVM = 51,
  DSMI_MAIN_CMD_VDEV_MNG = 52,
  DSMI_MAIN_CMD_PCIE = 55,
  DSMI_MAIN_CMD_EX_COMPUTING = 0x8000,
  DSMI_MAIN_CMD_MAX = 0x7fffffff
} DSMI_MAIN_CMD;

/* TS. 0, 1: a byte per core, percent, in records of 10; places without a core are 0xFF. 12, 13: the
   same as a ts_utilization_block_info, with array_len records of room. 7, 8 are not supported. */
#define DSMI_TS_SUB_CMD_AICORE_UTILIZATION_RATE 0
#define DSMI_TS_SUB_CMD_VECTORCORE_UTILIZATION_RATE 1
#define DSMI_TS_SUB_CMD_AICORE_MULTI_UTILIZATION_RATE 12
#define DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE 13
#define TS_UTILIZATION_UNIT_NUM 10U
#define CORE_UTIL_ARR_MAX_LEN 200U
typedef struct ts_utilization_rate_info {
  unsigned char single_core[TS_UTILIZATION_UNIT_NUM];
} TS_UTILIZATION_RATE;
typedef struct ts_utilization_block_info {
  unsigned int array_len;      /* in: records of room */
  unsigned int valid_core_num; /* out */
  TS_UTILIZATION_RATE core_util_array[CORE_UTIL_ARR_MAX_LEN];
} TS_UTILIZATION_BLOCK;

/* LP. STATUS: a dsmi_lp_status_stru of zeroes, for the card is always awake; GET_WORK_TOPS: the one
   level of work that there is; AICORE_FREQREDUC_CAUSE: 8 bytes, 0 while the cores' clock is what it
   is rated at, else not supported. Voltages, currents, ACG, levels' details and power are not
   supported, and nothing is set. */
#define DSMI_LP_SUB_CMD_AICORE_VOLTAGE_CURRENT 0
#define DSMI_LP_SUB_CMD_HYBIRD_VOLTAGE_CURRENT 1
#define DSMI_LP_SUB_CMD_TAISHAN_VOLTAGE_CURRENT 2
#define DSMI_LP_SUB_CMD_DDR_VOLTAGE_CURRENT 3
#define DSMI_LP_SUB_CMD_ACG 4
#define DSMI_LP_SUB_CMD_STATUS 5
#define DSMI_LP_SUB_CMD_TOPS_DETAILS 6
#define DSMI_LP_SUB_CMD_SET_WORK_TOPS 7
#define DSMI_LP_SUB_CMD_GET_WORK_TOPS 8
#define DSMI_LP_SUB_CMD_AICORE_FREQREDUC_CAUSE 9
#define DSMI_LP_SUB_CMD_GET_POWER_INFO 10
#define DSMI_LP_SUB_CMD_SET_IDLE_SWITCH 11
typedef struct dsmi_lp_status_stru {
  unsigned int status;
  unsigned long long status_info;
} DSMI_LP_STATUS_STRU;
struct dsmi_lp_cur_tops_stru {
  unsigned int work_tops; /* the level, from 0 */
  unsigned int tops_nums; /* levels */
};

/* MEMORY. CAPACITY: unsigned long long, bytes that can be allocated; ECC_ENABLE: unsigned int, 1
   where the card counts errors; HBM_MEMORY: a dsmi_memory_info. Others are not supported: there is
   no DDR, and no part of the memory is the card's own system's. */
#define DSMI_SUB_CMD_MEMORY_TYPE 0
#define DSMI_SUB_CMD_MEMORY_CAPACITY 1
#define DSMI_SUB_CMD_MEMORY_ECC_ENABLE 4
#define DSMI_SUB_CMD_SERVICE_MEMORY 32
#define DSMI_SUB_CMD_SYSTEM_MEMORY 33
#define DSMI_SUB_CMD_DDR_MEMORY 34
#define DSMI_SUB_CMD_HBM_MEMORY 35
#define DSMI_MEMORY_RESERVE_LEN 38
struct dsmi_memory_info {
  unsigned int total_size, used_size; /* KB */
  char reserve[DSMI_MEMORY_RESERVE_LEN];
};

/* HCCS, of a card with links to others, which are numbered in the order of these cards' ids; of no
   link, or a virtual function: not supported. STATUS: zeroes: what there is is up. LANE_INFO: a bit
   for each link; lanes are not told. STATISTIC_INFO: messages since the machine's beginning, modulo
   2^32; links make no errors and repeat nothing. PING and CREDIT_INFO are not supported. */
#define DSMI_HCCS_CMD_GET_STATUS 0
#define DSMI_HCCS_CMD_GET_LANE_INFO 1
#define DSMI_HCCS_CMD_GET_PING_INFO 2
#define DSMI_HCCS_CMD_GET_STATISTIC_INFO 3
#define DSMI_HCCS_CMD_GET_CREDIT_INFO 4
#define DSMI_HCCS_STATUS_RESERVED_LEN 4
#define DSMI_HCCS_MAX_PCS_NUM 16
struct dsmi_hccs_status {
  unsigned int pcs_status, hdlc_status;
  unsigned char reserve[DSMI_HCCS_STATUS_RESERVED_LEN];
};
struct dsmi_hccs_lane_info {
  unsigned int hccs_port_pcs_bitmap;
  unsigned int pcs_lane_bitmap[DSMI_HCCS_MAX_PCS_NUM]; /* DSMI_NOT_KNOWN */
  unsigned int reserve[DSMI_HCCS_MAX_PCS_NUM];
};
struct dsmi_hccs_statistic_info {
  unsigned int tx_cnt[DSMI_HCCS_MAX_PCS_NUM], rx_cnt[DSMI_HCCS_MAX_PCS_NUM];
  unsigned int crc_err_cnt[DSMI_HCCS_MAX_PCS_NUM], retry_cnt[DSMI_HCCS_MAX_PCS_NUM];
  unsigned int reserve[DSMI_HCCS_MAX_PCS_NUM * 3];
};

/* SOC_INFO 0. */
struct dsmi_domain_info {
  int ai_cpu_num, ctrl_cpu_num, data_cpu_num, ai_core_num, vector_core_num;
  int reserve[8];
};
/* PCIE 0: of the Link Status register. 1, errors of the link, is not supported: it makes none. */
#define DSMI_PCIE_SUB_CMD_PCIE_INFO 0
#define DSMI_PCIE_SUB_CMD_PCIE_LINK_ERROR_INFO 1
struct dsmi_pcie_info_para {
  unsigned int link_status; /* 1: active */
  unsigned int rate_mode;   /* generation */
  unsigned int lane_num;
  unsigned int reserved[8];
};
typedef struct dsmi_pcie_link_error_info {
  unsigned int tx_err_cnt, rx_err_cnt, lcrc_err_cnt, ecrc_err_cnt, retry_cnt;
  unsigned int rsv[11];
} DSMI_PCIE_LINK_ERROR_INFO;
/* EX_COMPUTING 0: the computing token, of 65535: so much of each window of time all clients of the
   card together may have AI Cores (docs/sharing.md), from the next window on; with 0 nothing runs.
   A program whose own token is less (`exec --share`) is told that. Set: DSMI_ERROR_PARAMETER: a
   value that is none of 0 to 65535, or type; not supported: by who does not serve the card's
   clients, and less than 65535 where they take no turns (best effort). */
#define DSMI_EX_COMPUTING_SUB_CMD_TOKEN 0
#define COMPUTING_TOKEN_LAD0TKEN01 1
#define COMPUTING_TOKEN_LAD0TKEN02 2
#define COMPUTING_TOKEN_TYPE_INVALID 0xFF
typedef struct dsmi_computing_token_stru {
  float value;        /* rounded to a whole one */
  unsigned char type; /* COMPUTING_TOKEN_LAD0TKEN*, without effect; set: 0 is the first */
  unsigned char reserve_c;
  unsigned short reserve_s;
} COMPUTING_TOKEN_STRU;
/* SVM, an unsigned int that is kept and has no effect here. */
#define DSMI_SET_VDEV_CONVERT_LEN 0
#define DSMI_GET_VDEV_CONVERT_LEN 1
#define DSMI_SETTING_MAX 256 /* bytes of a setting of QOS, which is kept and has no effect here */

/* VDEV_MNG. SRIOV_SWITCH: an int: get: 1 if the card has virtual functions; set: 1: as many as it
   can have, 0: none, DSMI_ERROR_BUSY while there are virtual devices, DSMI_ERROR_PARAMETER: another
   value. TOPS_PERCENTAGE: a dsmi_soc_vdev_ratio: percent of the card's AI Cores; of a member of a
   group its part of the group's, by the tokens. VDEV_ACTIVITY: a dsmi_vdev_query_stru, of which
   vdev_aicore_utilization is percent of the time since the same was last asked, at first since the
   card's reset, that the virtual device's cores were in use; those of a group are all members';
   under `exec` since any program asked. 3 and 5 are not supported over a socket. */
#define DSMI_VMNG_SUB_CMD_GET_VDEV_RESOURCE 0
#define DSMI_VMNG_SUB_CMD_GET_TOTAL_RESOURCE 1
#define DSMI_VMNG_SUB_CMD_GET_FREE_RESOURCE 2
#define DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH 3
#define DSMI_VMNG_SUB_CMD_GET_TOPS_PERCENTAGE 4
#define DSMI_VMNG_SUB_CMD_GET_VDEV_ACTIVITY 5

#endif
