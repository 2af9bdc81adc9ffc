/* JniRefs: creates and deletes global references of JNI, and puts functions of its own into JNI's table. */
#include <jvmti.h>
#include <pthread.h>

static JavaVM *vm;
static struct JNINativeInterface_ before;
static long wrapped;

JNIEXPORT jlong JNICALL Java_JniRefs_hold(JNIEnv *jni, jclass ignored, jobject object) {
    (void) ignored;
    return (jlong) (*jni)->NewGlobalRef(jni, object);
}

JNIEXPORT void JNICALL Java_JniRefs_release(JNIEnv *jni, jclass ignored, jlong reference) {
    (void) ignored;
    (*jni)->DeleteGlobalRef(jni, (jobject) reference);
}

JNIEXPORT jlong JNICALL Java_JniRefs_holdWeakly(JNIEnv *jni, jclass ignored, jobject object) {
    (void) ignored;
    return (jlong) (*jni)->NewWeakGlobalRef(jni, object);
}

JNIEXPORT void JNICALL Java_JniRefs_releaseWeak(JNIEnv *jni, jclass ignored, jlong reference) {
    (void) ignored;
    (*jni)->DeleteWeakGlobalRef(jni, (jweak) reference);
}

/* A reference is created while an exception is pending, which stays. */
JNIEXPORT void JNICALL Java_JniRefs_holdAndThrow(JNIEnv *jni, jclass ignored, jobject object, jthrowable thrown) {
    (void) ignored;
    (*jni)->Throw(jni, thrown);
    (*jni)->NewGlobalRef(jni, object);
}

static void *on_thread(void *reference) {
    JNIEnv *jni;
    JavaVMAttachArgs arguments = {JNI_VERSION_1_6, "native", NULL};
    (*vm)->AttachCurrentThread(vm, (void **) &jni, &arguments);
    (*jni)->NewGlobalRef(jni, (jobject) reference);
    (*vm)->DetachCurrentThread(vm);
    return NULL;
}

/* A reference is created by a thread that runs no Java code. */
JNIEXPORT void JNICALL Java_JniRefs_holdOnThread(JNIEnv *jni, jclass ignored, jlong reference) {
    (void) ignored;
    pthread_t thread;
    (*jni)->GetJavaVM(jni, &vm);
    if (pthread_create(&thread, NULL, on_thread, (void *) reference) == 0) {
        pthread_join(thread, NULL);
    }
}

static jobject JNICALL counted(JNIEnv *jni, jobject object) {
    __atomic_add_fetch(&wrapped, 1, __ATOMIC_RELAXED);
    return before.NewGlobalRef(jni, object);
}

static jvmtiEnv *tool(JNIEnv *jni) {
    jvmtiEnv *jvmti = NULL;
    (*jni)->GetJavaVM(jni, &vm);
    (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_1_2);
    return jvmti;
}

/* The table has a function of this library from now on, in front of the one that was there. */
JNIEXPORT void JNICALL Java_JniRefs_wrap(JNIEnv *jni, jclass ignored) {
    (void) ignored;
    jvmtiEnv *jvmti = tool(jni);
    jniNativeInterface *table;
    (*jvmti)->GetJNIFunctionTable(jvmti, &table);
    before.NewGlobalRef = table->NewGlobalRef;
    table->NewGlobalRef = counted;
    (*jvmti)->SetJNIFunctionTable(jvmti, table);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) table);
}

/* And has the one that was there again. */
JNIEXPORT void JNICALL Java_JniRefs_unwrap(JNIEnv *jni, jclass ignored) {
    (void) ignored;
    jvmtiEnv *jvmti = tool(jni);
    jniNativeInterface *table;
    (*jvmti)->GetJNIFunctionTable(jvmti, &table);
    table->NewGlobalRef = before.NewGlobalRef;
    (*jvmti)->SetJNIFunctionTable(jvmti, table);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) table);
}

/* How often the function of this library was called. */
JNIEXPORT jlong JNICALL Java_JniRefs_wrapped(JNIEnv *jni, jclass ignored) {
    (void) jni, (void) ignored;
    return __atomic_load_n(&wrapped, __ATOMIC_RELAXED);
}

/* The library that has the function in the table at each of the four places of references. */
JNIEXPORT jint JNICALL Java_JniRefs_places(JNIEnv *jni, jclass ignored, jlongArray places) {
    (void) ignored;
    const struct JNINativeInterface_ *table = *jni;
    jlong found[] = {
        (jlong) table->NewGlobalRef, (jlong) table->DeleteGlobalRef,
        (jlong) table->NewWeakGlobalRef, (jlong) table->DeleteWeakGlobalRef,
    };
    (*jni)->SetLongArrayRegion(jni, places, 0, 4, found);
    return 4;
}
