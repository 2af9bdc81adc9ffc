package p;

/** The number in a line's comment is the number of its executions; several threads execute one at a time. */
public class Counted {
    static int sum;

    static void loop(int times) {
        for (int i = 0; i < times; i++) {
            sum += i; // 1000
        }
        if (times < 0) { // 3
            sum = 0; // 0
        }
    }

    static void refuse(int number) {
        if (number % 2 == 0) // 10
            throw new IllegalStateException(); // 5
        sum++; // 5
    }

    static synchronized void together() {
        sum++; // 80000
    }

    public static void main(String[] arguments) throws Exception {
        loop(600);
        loop(400);
        loop(0);
        for (int i = 0; i < 10; i++) {
            try {
                refuse(i); // 10
            } catch (IllegalStateException expected) { // 5
                sum--; // 5
            }
        }
        Thread[] threads = new Thread[4];
        for (int t = 0; t < 4; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 20_000; i++)
                    together();
            });
            threads[t].start(); // 4
        }
        for (Thread thread : threads)
            thread.join(); // 4
        System.out.println(sum); // 1
    }
}
