class NestGrown { static class One {} static class Two {} }
