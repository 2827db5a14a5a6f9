/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and ranges of the program, in domains, for a profile (acl/acl_prof.h). Without one they do
   nothing. Their times are the host's, whichever the stream is. */
#ifndef NPUSIM_MS_TOOLS_EXT_H
#define NPUSIM_MS_TOOLS_EXT_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
typedef uint64_t mstxRangeId;

ACL_FUNC_VISIBILITY void mstxMarkA(const char* text, aclrtStream stream);
/* 0: no text. */
ACL_FUNC_VISIBILITY mstxRangeId mstxRangeStartA(const char* text, aclrtStream stream);
ACL_FUNC_VISIBILITY void mstxRangeEnd(mstxRangeId range);
/* Null: no name. The same name gives the same domain. */
ACL_FUNC_VISIBILITY mstxDomainHandle_t mstxDomainCreateA(const char* name);
ACL_FUNC_VISIBILITY void mstxDomainDestroy(mstxDomainHandle_t domain);
ACL_FUNC_VISIBILITY void mstxDomainMarkA(mstxDomainHandle_t domain, const char* text,
                                         aclrtStream stream);
ACL_FUNC_VISIBILITY mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* text,
                                                      aclrtStream stream);
ACL_FUNC_VISIBILITY void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId range);

#ifdef __cplusplus
}
#endif
#endif
