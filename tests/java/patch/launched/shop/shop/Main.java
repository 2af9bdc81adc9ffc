package shop;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Prints "up", then for each line of its standard input the answer of {@link Account}. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        while (in.readLine() != null) {
            System.out.println(Account.answer());
        }
    }
}
