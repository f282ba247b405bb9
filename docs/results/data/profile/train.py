"""Trains a small transformer on random data: steps, seconds of pause between steps."""
import json
import sys
import time

import torch

steps = int(sys.argv[1])
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
torch.manual_seed(1)
layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, norm_first=True)
model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False), torch.nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(16, 512, 1024, device="cuda")
y = torch.randn(16, 512, 1024, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = torch.nn.functional.mse_loss(model(x).float(), y)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(3):
    step()
torch.cuda.synchronize()
start = time.perf_counter()
for _ in range(steps):
    loss = step()
    if pause:
        torch.cuda.synchronize()
        time.sleep(pause)
torch.cuda.synchronize()
took = time.perf_counter() - start
print(json.dumps({"steps": steps, "loop_s": took, "loss": float(loss)}), flush=True)
