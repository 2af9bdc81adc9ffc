package io.github.classhook.gradle;

import java.math.BigDecimal;

/** The minimum and the maximum of a counter. */
public class Limit {
    private String counter = "INSTRUCTION";
    private String value = "COVEREDRATIO";
    private BigDecimal minimum;
    private BigDecimal maximum;

    public String getCounter() {
        return counter;
    }

    public void setCounter(String counter) {
        this.counter = counter;
    }

    public String getValue() {
        return value;
    }

    public void setValue(String value) {
        this.value = value;
    }

    public BigDecimal getMinimum() {
        return minimum;
    }

    public void setMinimum(BigDecimal minimum) {
        this.minimum = minimum;
    }

    public BigDecimal getMaximum() {
        return maximum;
    }

    public void setMaximum(BigDecimal maximum) {
        this.maximum = maximum;
    }

    void write(StringBuilder text) {
        text.append("<limit>\n");
        ViolationRules.write(text, "counter", counter);
        ViolationRules.write(text, "value", value);
        ViolationRules.write(text, "minimum", minimum);
        ViolationRules.write(text, "maximum", maximum);
        text.append("</limit>\n");
    }
}
