/* Embeds a JVM: launcher OPTION... -- MAIN ARGUMENT...
 *
 * Linked with libclasshook.a, so that -agentlib:classhook finds the agent in the process itself. */
#include <jni.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    JavaVMOption options[64];
    JavaVMInitArgs arguments = {JNI_VERSION_10, 0, options, JNI_FALSE};
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0 && arguments.nOptions < 64; at++) {
        options[arguments.nOptions].optionString = argv[at];
        options[arguments.nOptions].extraInfo = NULL;
        arguments.nOptions++;
    }
    at++;
    if (at >= argc) {
        fprintf(stderr, "no main class\n");
        return 2;
    }
    JavaVM *vm;
    JNIEnv *env;
    if (JNI_CreateJavaVM(&vm, (void **)&env, &arguments) != JNI_OK) {
        fprintf(stderr, "no JVM\n");
        return 1;
    }
    jclass main_class = (*env)->FindClass(env, argv[at]);
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jmethodID method = main_class == NULL ? NULL
        : (*env)->GetStaticMethodID(env, main_class, "main", "([Ljava/lang/String;)V");
    if (method != NULL) {
        jobjectArray rest = (*env)->NewObjectArray(env, argc - at - 1, string, NULL);
        for (int i = at + 1; i < argc; i++) {
            (*env)->SetObjectArrayElement(env, rest, i - at - 1, (*env)->NewStringUTF(env, argv[i]));
        }
        (*env)->CallStaticVoidMethod(env, main_class, method, rest);
    }
    int failed = (*env)->ExceptionCheck(env);
    if (failed) {
        (*env)->ExceptionDescribe(env);
    }
    (*vm)->DestroyJavaVM(vm);
    return failed;
}
