sealed interface SealedGrown permits SealedOne, SealedTwo {}
final class SealedOne implements SealedGrown {}
final class SealedTwo implements SealedGrown {}
