/** Loads one class on each kind of stack; a plugin misbehaves on exactly these classes. */
public class Misbehaved {
    static class VictimOnMain {
        static String greet(String name) {
            return name.isEmpty() ? "nobody" : "hello " + name;
        }
    }

    static class VictimOnSmallStack {
        static int sum(int upTo) {
            int sum = 0;
            for (int i = 1; i <= upTo; i++) {
                sum += i;
            }
            return sum;
        }
    }

    static class VictimFarDown {
        static String where(int depth) {
            switch (depth) {
                case 0:
                    return "at the top";
                case 8000:
                    return "far down";
                default:
                    return "between";
            }
        }
    }

    static class Innocent {
        static boolean even(int number) {
            return number % 2 == 0;
        }
    }

    static class VictimFourth {
        static int four() {
            return 4;
        }
    }

    static class VictimFifth {
        static int five() {
            return 5;
        }
    }

    static class LoadedLast {
        static int answer() {
            return 42;
        }
    }

    private static String down(int depth) {
        return depth == 8_000 ? VictimFarDown.where(depth) : down(depth + 1);
    }

    private static void on(String name, long stack, Runnable work) throws InterruptedException {
        Thread thread = new Thread(null, work, name, stack);
        thread.start();
        thread.join();
    }

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(VictimOnMain.greet("world") + VictimOnMain.greet(""));
        System.out.println(Innocent.even(4));
        // 0 stands for the size of -Xss
        on("small", 0, () -> System.out.println("sum " + VictimOnSmallStack.sum(100)));
        on("deep", 16 << 20, () -> System.out.println(down(0)));
        System.out.println(VictimFourth.four() + VictimFifth.five());
        System.out.println(LoadedLast.answer());
        System.exit(arguments.length);
    }
}
