package org.codehaus.plexus.classworlds.realm;

import java.net.URL;
import java.net.URLClassLoader;

public class ClassRealm extends URLClassLoader {
    public ClassRealm(URL plugin) {
        super(new URL[] {plugin}, ClassRealm.class.getClassLoader());
    }
}
