/** Compiled with `javac --release 8 -g` into the class file beside it. */
abstract class Counter {
    abstract int limit();

    int increment(int n) {
        return n < 0 ? 0 : n + 1;
    }
}
