/** Creates words, and arrays of their letters. */
public class Words {
    private final String text;
    private final char[] letters = new char[8];

    Words(String text) {
        this.text = text;
    }

    public static void main(String[] arguments) {
        Words[] all = new Words[3];
        for (int at = 0; at < all.length; at++) {
            all[at] = new Words(new String("word"));
        }
        String[][] pages = new String[2][];
        pages[0] = new String[1];
        int[][] places = new int[2][3];
        System.out.println(all.length + " words, " + pages.length * places.length);
    }
}
