/** Reads numbers, and counts an invalid one as zero. */
public class Numbers {
    public static void main(String[] arguments) {
        int sum = 0;
        for (String text : new String[] {"1", "two", "3", "four"}) {
            sum += number(text);
        }
        System.out.println("sum " + sum);
    }

    static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException none) {
            return 0;
        }
    }
}
