int Java_Natives_twice(void *env, void *type, int number) { return 2 * number; }
long Java_Natives_plus(void *env, void *self, long number, void *unused) { return number + 2; }
