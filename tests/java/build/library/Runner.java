package org.junit;

public class Runner {
    public static void main(String[] arguments) throws Exception {
        ((Runnable) Class.forName(arguments[0]).getDeclaredConstructor().newInstance()).run();
    }
}
