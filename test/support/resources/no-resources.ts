import { SessionResources } from '../../../src/history/session-resources.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { ToolResources } from '../../../src/tools/tool.ts'

/** For tools that do not use Resources: every access fails. */
export const NO_RESOURCES: ToolResources = {
  knownResources: () => new SessionResources(),
  find: async () => ok(undefined),
  notTaken: () => undefined,
  visible: () => undefined,
  take: async () => ({ outcome: 'projected' }),
  mayShow: async () => failed('internal', 'No Resource was expected here.'),
  holdsKey: async () => false,
  payload: async () => failed('internal', 'No Resource was expected here.'),
  variants: {
    image: async () => failed('internal', 'No Resource was expected here.'),
    pdfText: async () => failed('internal', 'No Resource was expected here.'),
  },
  ingest: async () => failed('internal', 'No Resource was expected here.'),
  attachable: () => undefined,
  name: () => failed('internal', 'No Resource was expected here.'),
}
