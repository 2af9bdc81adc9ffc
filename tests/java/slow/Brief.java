/** One call without a wait. */
final class Brief {
    static int once(int number) {
        return number + 1;
    }

    public static void main(String[] args) {
        System.out.println(once(1));
    }
}
