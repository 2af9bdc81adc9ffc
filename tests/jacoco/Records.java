// Records: their members that the compiler makes, and those that are written.

record Records(int x, String name) {
    record Written(int a, long b) {
        Written {
            if (a < 0) {
                throw new IllegalArgumentException();
            }
        }

        @Override
        public int a() {
            return a + 1;
        }

        @Override
        public String toString() {
            return "written";
        }

        int get() {
            return a;
        }
    }

    record Empty() {
    }

    record Wide(boolean z, byte b, char c, short s, float f, double d, Object o) {
        static int of(Wide w) {
            return w.z() ? w.b() : w.s();
        }
    }
}
