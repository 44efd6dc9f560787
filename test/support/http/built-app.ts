import { fileURLToPath } from 'node:url'

/** The folder of the app for browsers that `npm run build` fills. */
export const BUILT_APP = fileURLToPath(new URL('../../../dist/web', import.meta.url))
