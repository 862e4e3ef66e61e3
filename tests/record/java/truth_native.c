/* Java functions that C code calls which a Java function called: see Truth.java. tests/record/java_truth compiles it. */
#include <jni.h>

__attribute__((noinline)) static jint call(JNIEnv *env, jobject function, jint number)
{
	jclass type = (*env)->FindClass(env, "java/util/function/IntUnaryOperator");
	jmethodID method = type ? (*env)->GetMethodID(env, type, "applyAsInt", "(I)I") : NULL;

	return method ? (*env)->CallIntMethod(env, function, method, number) + 1 : 0;
}

JNIEXPORT jint JNICALL Java_Truth_callFromC(JNIEnv *env, jobject self, jobject function)
{
	(void)self;
	return call(env, function, 3) + 1;
}
