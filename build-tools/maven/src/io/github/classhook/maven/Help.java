package io.github.classhook.maven;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Prints the goals, and with `detail` their parameters, from the plugin descriptor. */
public final class Help extends AbstractMojo {
    private boolean detail;
    private String goal;
    private int lineLength;
    private int indentSize;

    @Override
    public void execute() throws MojoExecutionException {
        Element plugin = descriptor();
        List<Element> goals = children(child(plugin, "mojos"), "mojo");
        getLog().info(text(plugin, "artifactId") + " " + text(plugin, "version"));
        boolean isKnown = false;
        for (Element each : goals) {
            if (goal == null || goal.isEmpty() || goal.equals(text(each, "goal"))) {
                isKnown = true;
                tell(each);
            }
        }
        if (!isKnown) {
            throw new MojoExecutionException("there is no goal `" + goal + "`; omit -Dgoal to list all goals");
        }
    }

    private void tell(Element each) {
        getLog().info("");
        getLog().info("classhook:" + text(each, "goal"));
        String phase = text(each, "phase");
        tell(1, text(each, "description") + (phase.isEmpty() ? "" : " Bound to the phase " + phase + "."));
        if (detail) {
            for (Element parameter : children(child(each, "parameters"), "parameter")) {
                if (text(parameter, "editable").equals("true")) {
                    tell(each, parameter);
                }
            }
        }
    }

    private void tell(Element each, Element parameter) {
        String name = text(parameter, "name");
        List<Element> settings = children(child(each, "configuration"), name);
        String head = name;
        String property = "";
        if (!settings.isEmpty()) {
            String value = settings.get(0).getAttribute("default-value");
            head += value.isEmpty() ? "" : " (default: " + value + ")";
            property = settings.get(0).getTextContent().trim();
        }
        getLog().info("");
        tell(1, head);
        tell(2, text(parameter, "description"));
        if (text(parameter, "required").equals("true")) {
            tell(2, "Required.");
        }
        if (!property.isEmpty()) {
            tell(2, "Property: " + property.substring(2, property.length() - 1));
        }
    }

    /** Prints a text, wrapped at the maximum line length. */
    private void tell(int depth, String text) {
        StringBuilder indent = new StringBuilder();
        for (int left = depth * indentSize; left > 0; left--) {
            indent.append(' ');
        }
        StringBuilder line = new StringBuilder(indent);
        for (String word : text.split(" ")) {
            boolean isFirst = line.length() == indent.length();
            if (!isFirst && line.length() + 1 + word.length() > lineLength) {
                getLog().info(line);
                line = new StringBuilder(indent);
                isFirst = true;
            }
            line.append(isFirst ? "" : " ").append(word);
        }
        getLog().info(line);
    }

    private static Element descriptor() throws MojoExecutionException {
        try (InputStream file = Help.class.getResourceAsStream("/META-INF/maven/plugin.xml")) {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file).getDocumentElement();
        } catch (Exception error) {
            throw new MojoExecutionException("cannot read the plugin's descriptor: " + error, error);
        }
    }

    private static String text(Element parent, String name) {
        List<Element> found = children(parent, name);
        return found.isEmpty() ? "" : found.get(0).getTextContent().trim();
    }

    private static Element child(Element parent, String name) {
        return children(parent, name).get(0);
    }

    private static List<Element> children(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        NodeList nodes = parent.getChildNodes();
        for (int at = 0; at < nodes.getLength(); at++) {
            if (nodes.item(at).getNodeName().equals(name)) {
                found.add((Element) nodes.item(at));
            }
        }
        return found;
    }
}
