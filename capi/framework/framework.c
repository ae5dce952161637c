// libtensorflow_framework.so.2: empty. Programs are linked with it beside libtensorflow.so.2, which
// has all names itself; whoever loads this one gets that one too.
extern const char *TF_Version(void);
__attribute__((visibility("hidden"))) const char *(*const rheos_capi_library)(void) = TF_Version;
