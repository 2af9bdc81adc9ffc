package com.acme.web;

import com.acme.Sum;

public class Page {
    public String show(int... numbers) {
        Sum sum = new Sum();
        for (int number : numbers) {
            sum.add(number);
        }
        switch (sum.get()) {
            case 0:
                return "nothing";
            case 100:
                return "much";
            default:
                return "sum " + sum.get();
        }
    }
}
