// refused with 72
record RecordGrown(int one, int two) {}
