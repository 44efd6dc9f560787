/**
 * The version of the Prompt Contract. Every sentence that Hawser itself writes to a model is in this folder, one file per
 * subject, and `test/pins/contract.test.ts` binds all of them to the version. Every layer that writes part of a request
 * may import this folder: history, context, request, resources, tools and the dialects. The templates accept plain facts,
 * which Events satisfy, so that they do not depend on Events.
 *
 * The output of tools is data in the Log; their descriptions are in the surface.
 */
export const CONTRACT_VERSION = 'hw1'

/**
 * SHA-256 over the canonical JSON of every sentence here except Layer 0, each rendered from fixed facts. A Session records
 * it: Layer 0 is stored with its surface, but the sentences are rendered again for every request, so a changed sentence
 * changes the bytes of the same Events. A pin test verifies the value and prints the new one when a sentence changes.
 */
export const WORDS_SHA256 = '8d16b2bd46987eb792526718eda2ceb13da79f2148b2b4873c0c4eb8d7244435'
