/**
 * The version of the Prompt Contract. Every sentence that Hawser itself says to a model is in this folder, one file a subject,
 * and `test/pins/contract.test.ts` binds all of them to the version. They are in `encoding/` because it is the one layer that
 * everything which writes a part of a request may import: history, request, resources and tools as well as the dialects, which
 * see neither history nor contract. So templates take plain facts, which Events fit, and know no Event.
 *
 * What tools answer is data and is in the Log; what they describe themselves with is in the surface.
 */
export const CONTRACT_VERSION = 'hw1'

/**
 * SHA-256 over the canonical JSON of every sentence here but Layer 0, each made from fixed facts. A Session records it: Layer 0
 * is stored with its surface and stays, but these are written again for every request, so other sentences make other bytes of
 * the same Events. Held by the pin, which prints the new value when a sentence changes.
 */
export const WORDS_SHA256 = 'e5ba4e2371fec89f7773b336268b2a3c80e37880492e1e52bedc56e185347d6e'
