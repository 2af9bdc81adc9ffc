// Blocks that the compiler copies or wraps: finally, synchronized, try-with-resources.

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;

class Blocks {
    static final Object LOCK = new Object();
    static int count;

    static void synchronizedBlock(int x) {
        synchronized (LOCK) {
            if (x > 0) {
                count++;
            }
        }
    }

    static int synchronizedReturn(int x) {
        synchronized (LOCK) {
            if (x > 0) {
                return count;
            }
        }
        return 0;
    }

    static void nestedSynchronized() {
        synchronized (LOCK) {
            synchronized (Blocks.class) {
                count++;
            }
        }
    }

    static void finallyOnly(int x) {
        try {
            work(x);
        } finally {
            count++;
        }
    }

    static void catchFinally(int x) {
        try {
            work(x);
        } catch (IllegalStateException e) {
            count--;
        } finally {
            if (x > 0) {
                count++;
            }
        }
    }

    static void emptyCatchFinally(int x) {
        try {
            work(x);
        } catch (IllegalStateException e) {
        } finally {
            count++;
        }
    }

    static int returnInFinally(int x) {
        try {
            if (x > 3) {
                return x;
            }
            work(x);
            return -x;
        } finally {
            count++;
            count++;
        }
    }

    static int loopFinally(int x) {
        for (int i = 0; i < x; i++) {
            try {
                if (i == 3) {
                    continue;
                }
                if (i == 4) {
                    break;
                }
                work(i);
            } finally {
                count++;
            }
        }
        return count;
    }

    static void alwaysThrows() {
        try {
            throw new IllegalStateException();
        } finally {
            count++;
        }
    }

    static void nestedFinally(int x) {
        try {
            try {
                work(x);
            } finally {
                count++;
            }
        } finally {
            count--;
        }
    }

    static void condition(boolean a) {
        try {
            if (a) {
                work(1);
            }
        } finally {
            work(2);
        }
    }

    static void work(int x) {
        if (x > 10) {
            throw new IllegalStateException();
        }
    }

    static Closeable open(int x) {
        return x > 0 ? () -> count++ : null;
    }

    static void oneResource() throws IOException {
        try (InputStream in = new ByteArrayInputStream(new byte[3])) {
            count += in.read();
        }
    }

    static void maybeNull(int x) throws IOException {
        try (Closeable resource = open(x)) {
            work(x);
        }
    }

    static int returned(int x) throws IOException {
        try (Closeable resource = open(x)) {
            if (x > 0) {
                return 1;
            }
            work(x);
        }
        return 2;
    }

    static int onlyReturned(int x) throws IOException {
        try (Closeable resource = open(x)) {
            return read(resource);
        }
    }

    static void onlyThrown(int x) throws IOException {
        try (Closeable resource = open(x); Closeable other = open(x)) {
            throw new IOException();
        }
    }

    static void twoResources(int x) throws IOException {
        try (Closeable first = open(x); InputStream second = new ByteArrayInputStream(new byte[x])) {
            count += second.read();
        }
    }

    static void threeResourcesCatchFinally(int x) {
        try (Closeable first = open(x); Closeable second = open(-x); Closeable third = open(x + 1)) {
            work(x);
        } catch (IOException e) {
            count--;
        } finally {
            count++;
        }
    }

    static void existing(Closeable resource) throws IOException {
        try (resource) {
            count++;
        }
    }

    static void nestedResources(int x) throws IOException {
        try (Closeable outer = open(x)) {
            try (Closeable inner = open(x)) {
                work(x);
            }
            work(x + 1);
        }
    }

    static int read(Closeable resource) {
        return resource == null ? 0 : 1;
    }
}
