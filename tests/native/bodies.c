/* Servant.Bodies.of: the bytecode of each method of a class as the JVM runs it, read through JVM TI. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t length, room;

static void append(const char *format, const char *string, int number) {
    if (room - length < strlen(string) + 64) {
        room = 2 * room + strlen(string) + 64;
        text = realloc(text, room);
    }
    length += sprintf(text + length, format, string, number);
}

JNIEXPORT jstring JNICALL Java_Servant_00024Bodies_of(JNIEnv *jni, jclass ignored, jclass type) {
    (void) ignored;
    JavaVM *vm;
    jvmtiEnv *jvmti;
    jvmtiCapabilities wanted = {.can_get_bytecodes = 1};
    jint methods = 0;
    jmethodID *ids;
    length = 0;
    append("%s", "", 0);
    (*jni)->GetJavaVM(jni, &vm);
    (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11);
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) || (*jvmti)->GetClassMethods(jvmti, type, &methods, &ids)) {
        return (*jni)->NewStringUTF(jni, "refused");
    }
    for (jint method = 0; method < methods; method++) {
        char *name, *descriptor;
        jint count;
        unsigned char *code;
        (*jvmti)->GetMethodName(jvmti, ids[method], &name, &descriptor, NULL);
        append("%s", name, 0);
        append("%s:", descriptor, 0);
        if ((*jvmti)->GetBytecodes(jvmti, ids[method], &count, &code) == 0) {
            for (jint at = 0; at < count; at++) {
                append("%s%02x", "", code[at]);
            }
        }
        append("%s;", "", 0);
    }
    (*jvmti)->DisposeEnvironment(jvmti);
    return (*jni)->NewStringUTF(jni, text);
}
