// A request on each line of standard input, JSON, and its answer on a line of standard output, in order: one process
// serves many requests. What `answer` throws becomes {"error": message}.

import {createInterface} from 'node:readline';

export async function serve(answer) {
  for await (const line of createInterface({input: process.stdin})) {
    console.log(JSON.stringify(await answer(JSON.parse(line)).catch(error => ({error: String(error)}))));
  }
}
