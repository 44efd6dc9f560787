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
export const WORDS_SHA256 = 'a6df5ceb3f5d9aaaac2cddeaddf9aa6156dea1496c644ac7c040a5e3d8b6aacd'
