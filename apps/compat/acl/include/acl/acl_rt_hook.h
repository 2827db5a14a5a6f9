/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program's in place of the API's, for tools that count or check calls. */
#ifndef NPUSIM_ACL_RT_HOOK_H
#define NPUSIM_ACL_RT_HOOK_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of any function; to be cast to the type of the one it stands for. */
typedef void (*aclrtApiFunc)(void);

/* Calls of function `name` go to `function` from now on; the original one ends that. Functions whose
   names begin with aclrt or aclmdlRI can be replaced, but for the two of this header. No thread may
   be in a call of it. Calls of the program and of the libraries that are loaded now go there;
   calls inside the API's library, and through pointers of dlsym(), do not.
   100000: no such function, or null. 500000: the program's tables cannot be written. */
ACL_FUNC_VISIBILITY aclError aclrtApiInjectionSetFunc(const char* name, aclrtApiFunc function);
/* The function of the API and the one that calls go to now; each may be null.
   100000: no such function. */
ACL_FUNC_VISIBILITY aclError aclrtApiInjectionGetFunc(const char* name, aclrtApiFunc* original,
                                                      aclrtApiFunc* current);

#ifdef __cplusplus
}
#endif
#endif
