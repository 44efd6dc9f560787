import process from 'node:process'

/** Whether this run is `npm run test:long`. */
export const LONG = process.env['HAWSER_TEST_SIZE'] === 'long'
