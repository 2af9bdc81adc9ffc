/** Finally blocks, nested and left in each way. ECJ 4.6.1 compiled the class files, with subroutines. */
public class Finally {
    static int deep(int count) {
        int sum = 0;
        try {
            sum += count;
            try {
                if (count > 3) {
                    return sum;
                }
                sum = sum * 2;
            } finally {
                sum++;
                try {
                    if (sum % 2 == 0) {
                        throw new RuntimeException("even");
                    }
                } catch (RuntimeException caught) {
                    sum += 5;
                } finally {
                    sum += 7;
                }
            }
            for (int turn = 0; turn < count; turn++) {
                try {
                    if (turn == 2) {
                        continue;
                    }
                    if (turn == 5) {
                        break;
                    }
                    sum += turn;
                } finally {
                    sum -= 1;
                }
            }
        } finally {
            switch (sum) {
                case 1:
                    sum = 9;
                    break;
                case 2:
                    sum = 8;
                    break;
                case 1000:
                    sum = 0;
                default:
                    sum++;
            }
        }
        return sum;
    }

    static class Lock {
        int entered;

        synchronized void guarded(Object lock, int count) {
            synchronized (lock) {
                try {
                    if (count == 1) {
                        throw new IllegalStateException();
                    }
                    entered++;
                } finally {
                    System.out.println(count);
                }
            }
        }
    }

    public static void main(String[] arguments) {
        int sum = 0;
        for (int count = 0; count < 8; count++) {
            sum += deep(count);
        }
        System.out.println(sum);
        Lock lock = new Lock();
        lock.guarded("", 2);
        try {
            lock.guarded("", 1);
        } catch (IllegalStateException caught) {
            System.out.println(lock.entered);
        }
    }
}
