#include <jni.h>

JNIEXPORT jint JNICALL Java_NativeCalls_twice(JNIEnv *env, jclass type, jint number) { return 2 * number; }

JNIEXPORT jlong JNICALL Java_NativeCalls_plus(JNIEnv *env, jobject self, jlong number, jobject text) {
    return number + 2;
}

JNIEXPORT jint JNICALL Java_NativeCalls_locked(JNIEnv *env, jobject self, jint number) { return -number; }

JNIEXPORT jint JNICALL Java_NativeCalls_late(JNIEnv *env, jclass type, jint number) { return number + 1; }

JNIEXPORT void JNICALL Java_NativeCalls_fails(JNIEnv *env, jclass type) {
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), "as it should");
}

JNIEXPORT jint JNICALL Java_NativeCalls_back(JNIEnv *env, jobject self, jint depth) {
    jmethodID up = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, self), "up", "(I)I");
    return (*env)->CallIntMethod(env, self, up, depth - 1);
}
