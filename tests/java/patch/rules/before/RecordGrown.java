record RecordGrown(int one) {}
